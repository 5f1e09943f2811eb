// SPDX-License-Identifier: Apache-2.0
// MPI behind the table of shim.h. Built against one flavour and major version: constants and handles of MPI are
// compiled in, so the plugin compares what it finds with what is said here.
#include "shim.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if !defined(OPEN_MPI)
#error "the shim is written for Open MPI: its version is read from OMPI_MAJOR_VERSION"
#endif

struct hx_mpi_comm {
  MPI_Comm handle;
};

struct hx_mpi_request {
  MPI_Request handle;
};

static int class_of(int result) {
  int error_class = MPI_ERR_UNKNOWN;
  if (result == MPI_SUCCESS) return 0;
  return MPI_Error_class(result, &error_class) == MPI_SUCCESS ? error_class : MPI_ERR_UNKNOWN;
}

static void library(char text[512]) {
  char said[MPI_MAX_LIBRARY_VERSION_STRING] = {0};
  int length = 0;
  if (MPI_Get_library_version(said, &length) != MPI_SUCCESS) said[0] = '\0';
  strncpy(text, said, 511);
  text[511] = '\0';
}

static int is_launched(void) { return getenv("OMPI_COMM_WORLD_SIZE") != NULL; }

static int begin(void) {
  int done = 0, provided = 0;
  int result = MPI_Initialized(&done);
  if (result != MPI_SUCCESS || done) return class_of(result);
  result = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  if (result == MPI_SUCCESS && provided < MPI_THREAD_SERIALIZED) return MPI_ERR_OTHER;
  return class_of(result);
}

static void end(void) {
  int started = 0, over = 0;
  if (MPI_Initialized(&started) != MPI_SUCCESS || !started) return;
  if (MPI_Finalized(&over) == MPI_SUCCESS && !over) (void)MPI_Finalize();
}

// Errors come back as results instead of ending the process.
static int keep(int result, const MPI_Comm *opened, hx_mpi_comm **out) {
  MPI_Comm handle = *opened;
  if (result != MPI_SUCCESS || handle == MPI_COMM_NULL) return result == MPI_SUCCESS ? MPI_ERR_COMM : class_of(result);
  hx_mpi_comm *comm = malloc(sizeof *comm);
  if (comm == NULL) {
    (void)MPI_Comm_free(&handle);
    return MPI_ERR_NO_MEM;
  }
  (void)MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN);
  comm->handle = handle;
  *out = comm;
  return 0;
}

static int world(hx_mpi_comm **out) {
  MPI_Comm handle = MPI_COMM_NULL;
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return keep(MPI_Comm_dup(MPI_COMM_WORLD, &handle), &handle, out);
}

static int node(hx_mpi_comm **out) {
  MPI_Comm handle = MPI_COMM_NULL;
  return keep(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &handle), &handle, out);
}

static int subset(const int *ranks, int count, hx_mpi_comm **out) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm handle = MPI_COMM_NULL;
  int result = MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (result == MPI_SUCCESS) result = MPI_Group_incl(all, count, ranks, &some);
  if (result == MPI_SUCCESS) result = MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &handle);
  if (some != MPI_GROUP_NULL) (void)MPI_Group_free(&some);
  if (all != MPI_GROUP_NULL) (void)MPI_Group_free(&all);
  return keep(result, &handle, out);
}

static void release(hx_mpi_comm *comm) {
  (void)MPI_Comm_free(&comm->handle);
  free(comm);
}

static void place(hx_mpi_comm *comm, int *out_rank, int *out_size) {
  (void)MPI_Comm_rank(comm->handle, out_rank);
  (void)MPI_Comm_size(comm->handle, out_size);
}

static int finish(int result, hx_mpi_request *request, hx_mpi_request **out) {
  if (result == MPI_SUCCESS) {
    *out = request;
    return 0;
  }
  free(request);
  return class_of(result);
}

static int send(hx_mpi_comm *comm, const void *bytes, int count, int to, int tag, hx_mpi_request **out) {
  hx_mpi_request *request = malloc(sizeof *request);
  if (request == NULL) return MPI_ERR_NO_MEM;
  return finish(MPI_Isend(bytes, count, MPI_BYTE, to, tag, comm->handle, &request->handle), request, out);
}

static int receive(hx_mpi_comm *comm, void *bytes, int count, int from, int tag, hx_mpi_request **out) {
  hx_mpi_request *request = malloc(sizeof *request);
  if (request == NULL) return MPI_ERR_NO_MEM;
  return finish(MPI_Irecv(bytes, count, MPI_BYTE, from, tag, comm->handle, &request->handle), request, out);
}

static int broadcast(hx_mpi_comm *comm, void *bytes, int count, int root, hx_mpi_request **out) {
  hx_mpi_request *request = malloc(sizeof *request);
  if (request == NULL) return MPI_ERR_NO_MEM;
  return finish(MPI_Ibcast(bytes, count, MPI_BYTE, root, comm->handle, &request->handle), request, out);
}

static int test(hx_mpi_request *request, int *out_done) {
  const int result = MPI_Test(&request->handle, out_done, MPI_STATUS_IGNORE);
  if (result == MPI_SUCCESS && *out_done) free(request);
  return class_of(result);
}

static void text(int error, char out[256]) {
  char said[MPI_MAX_ERROR_STRING] = {0};
  int length = 0;
  if (MPI_Error_string(error, said, &length) != MPI_SUCCESS) said[0] = '\0';
  strncpy(out, said, 255);
  out[255] = '\0';
}

static int is_device_aware(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() != 0;
#else
  return -1;
#endif
}

__attribute__((visibility("default"))) extern const hx_mpi_shim hx_mpi_shim_table;
const hx_mpi_shim hx_mpi_shim_table = {.version = HX_MPI_SHIM_VERSION,
                                       .major = OMPI_MAJOR_VERSION,
                                       .minor = OMPI_MINOR_VERSION,
                                       .flavour = "Open MPI",
                                       .library = library,
                                       .is_launched = is_launched,
                                       .begin = begin,
                                       .end = end,
                                       .world = world,
                                       .node = node,
                                       .subset = subset,
                                       .release = release,
                                       .place = place,
                                       .send = send,
                                       .receive = receive,
                                       .broadcast = broadcast,
                                       .test = test,
                                       .text = text,
                                       .is_device_aware = is_device_aware};
