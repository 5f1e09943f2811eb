// SPDX-License-Identifier: Apache-2.0
#include "lifeline.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "heliox/support/error.h"
#include "wait.h"

#define BEAT_MS 2000        // between two messages that say nothing but that the sender is there
#define SILENCE_MS 8000u    // after which unacknowledged data ends a connection
#define GREETING_BYTES 40u  // secret, rank, size
#define CONNECT_MS 2000     // for one address
#define MESSAGE_BYTES 5u    // kind, rank

#define GRACE_MS 3000  // for what a rank that left has sent before

enum { MESSAGE_BEAT = 'b', MESSAGE_LOST = 'l', MESSAGE_LEFT = 'f' };

typedef struct link {
  int file;  // -1: none, or over
  uint32_t rank;
  bool is_over;  // farewell said
  uint8_t partial[MESSAGE_BYTES];
  uint32_t partial_size;
} link_t;

struct hx_lifeline {
  uint32_t rank, size;
  int listener;  // -1 on ranks other than 0, and once all have come
  int wake[2];   // a pipe that ends the thread
  bool watches;
  pthread_t thread;
  link_t *links;  // rank 0: [size - 1] of ranks 1 up; else [1] to rank 0
  uint32_t link_count;
  hx_lifeline_call call;
  atomic_uint lost, left;
  atomic_llong left_ms;  // when the first one left
};

static void set_number(int file, int level, int name, int value) {
  (void)setsockopt(file, level, name, &value, sizeof value);
}

static void tune(int file) {
  const unsigned silence = SILENCE_MS;
  set_number(file, IPPROTO_TCP, TCP_NODELAY, 1);
  set_number(file, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_number(file, IPPROTO_TCP, TCP_KEEPIDLE, 3);
  set_number(file, IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set_number(file, IPPROTO_TCP, TCP_KEEPCNT, 3);
  (void)setsockopt(file, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof silence);
}

// Waits until the descriptor is ready or the time has come; false then.
static bool wait_for(int file, short events, int64_t deadline) {
  for (;;) {
    const int64_t left = deadline - hx_mpi_now_ms();
    if (left <= 0) return false;
    struct pollfd entry = {.fd = file, .events = events};
    const int ready = poll(&entry, 1, left > 1000 ? 1000 : (int)left);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// All bytes of a non-blocking socket, before the deadline.
static bool read_all(int file, uint8_t *bytes, size_t size, int64_t deadline) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = recv(file, bytes + done, size - done, 0);
    if (got > 0) {
      done += (size_t)got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR) || !wait_for(file, POLLIN, deadline)) {
      return false;
    }
  }
  return true;
}

static bool write_all(int file, const uint8_t *bytes, size_t size, int64_t deadline) {
  for (size_t done = 0; done < size;) {
    const ssize_t put = send(file, bytes + done, size - done, MSG_NOSIGNAL);
    if (put > 0) {
      done += (size_t)put;
    } else if (put == 0 || (errno != EAGAIN && errno != EINTR) || !wait_for(file, POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

static void end_link(link_t *link) {
  if (link->file >= 0) close(link->file);
  link->file = -1;
}

// ------------------------------------------------------------------ watching

static void tell(const link_t *link, uint8_t kind, uint32_t rank) {
  const uint8_t message[MESSAGE_BYTES] = {kind, (uint8_t)(rank >> 24), (uint8_t)(rank >> 16), (uint8_t)(rank >> 8),
                                          (uint8_t)rank};
  // A full buffer means that nobody reads: the connection ends by itself then.
  if (link->file >= 0) (void)send(link->file, message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void relay(const hx_lifeline *line, uint8_t kind, uint32_t rank) {
  for (uint32_t i = 0; line->rank == 0 && i < line->link_count; ++i) {
    if (line->links[i].rank != rank) tell(&line->links[i], kind, rank);
  }
}

static void note_lost(hx_lifeline *line, uint32_t rank) {
  unsigned none = HX_NONE;
  (void)atomic_compare_exchange_strong(&line->lost, &none, rank);
  relay(line, MESSAGE_LOST, rank);
}

static void note_left(hx_lifeline *line, uint32_t rank) {
  unsigned none = HX_NONE;
  if (atomic_load(&line->left) == HX_NONE) atomic_store(&line->left_ms, hx_mpi_now_ms());
  (void)atomic_compare_exchange_strong(&line->left, &none, rank);
  relay(line, MESSAGE_LEFT, rank);
}

static void take_message(hx_lifeline *line, link_t *link) {
  const uint8_t *m = link->partial;
  const uint32_t rank = (uint32_t)m[1] << 24 | (uint32_t)m[2] << 16 | (uint32_t)m[3] << 8 | m[4];
  link->partial_size = 0;
  if (m[0] == MESSAGE_LEFT && rank == link->rank) link->is_over = true;
  if (m[0] == MESSAGE_LEFT && rank < line->size) note_left(line, rank);
  if (m[0] == MESSAGE_LOST && line->rank != 0 && rank < line->size) note_lost(line, rank);
}

static void take_bytes(hx_lifeline *line, link_t *link) {
  for (;;) {
    const ssize_t got =
        recv(link->file, link->partial + link->partial_size, MESSAGE_BYTES - link->partial_size, MSG_DONTWAIT);
    if (got > 0) {
      link->partial_size += (uint32_t)got;
      if (link->partial_size == MESSAGE_BYTES) take_message(line, link);
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    end_link(link);  // closed, or broken
    if (!link->is_over) note_lost(line, link->rank);
    return;
  }
}

static void *watch(void *argument) {
  hx_lifeline *line = argument;
  struct pollfd *entries = calloc((size_t)line->link_count + 1, sizeof *entries);
  if (entries == NULL) return NULL;  // deadlines remain
  int64_t next = hx_mpi_now_ms() + BEAT_MS;
  for (bool ends = false; !ends;) {
    for (uint32_t i = 0; i < line->link_count; ++i)
      entries[i] = (struct pollfd){.fd = line->links[i].file, .events = POLLIN};
    entries[line->link_count] = (struct pollfd){.fd = line->wake[0], .events = POLLIN};
    const int64_t left = next - hx_mpi_now_ms();
    (void)poll(entries, (nfds_t)line->link_count + 1, left < 0 ? 0 : (int)left);
    ends = entries[line->link_count].revents != 0;
    for (uint32_t i = 0; i < line->link_count; ++i) {
      if (line->links[i].file >= 0 && entries[i].revents != 0) take_bytes(line, &line->links[i]);
    }
    if (hx_mpi_now_ms() < next) continue;
    for (uint32_t i = 0; i < line->link_count; ++i) tell(&line->links[i], MESSAGE_BEAT, line->rank);
    next = hx_mpi_now_ms() + BEAT_MS;
  }
  free(entries);
  return NULL;
}

static int32_t begin_watching(hx_lifeline *line, hx_error *error) {
  if (pipe2(line->wake, O_CLOEXEC) != 0) {
    line->wake[0] = line->wake[1] = -1;
    return hxs_fail(error, HX_UNAVAILABLE, "no pipe for the thread that watches the other ranks: %s", strerror(errno));
  }
  const int result = pthread_create(&line->thread, NULL, watch, line);
  if (result != 0) return hxs_fail(error, HX_UNAVAILABLE, "no thread to watch the other ranks: %s", strerror(result));
  line->watches = true;
  return HX_OK;
}

// ------------------------------------------------------------------ meeting

static hx_lifeline *create(uint32_t rank, uint32_t size, uint32_t links) {
  hx_lifeline *line = calloc(1, sizeof *line);
  if (line == NULL) return NULL;
  *line = (hx_lifeline){.rank = rank, .size = size, .listener = -1, .wake = {-1, -1}, .link_count = links};
  atomic_init(&line->lost, HX_NONE);
  atomic_init(&line->left, HX_NONE);
  atomic_init(&line->left_ms, 0);
  line->links = calloc(links, sizeof *line->links);
  if (line->links == NULL) {
    free(line);
    return NULL;
  }
  for (uint32_t i = 0; i < links; ++i) line->links[i] = (link_t){.file = -1, .rank = rank == 0 ? i + 1 : 0};
  return line;
}

static void add_address(hx_lifeline_call *call, uint32_t *count, const struct sockaddr *address) {
  if (*count == HX_LIFELINE_HOSTS) return;
  call->family[*count] = (uint16_t)address->sa_family;
  if (address->sa_family == AF_INET) {
    memcpy(call->address[*count], &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
  } else {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    memcpy(call->address[*count], &six->sin6_addr, 16);
    call->scope[*count] = six->sin6_scope_id;
  }
  *count += 1;
}

// Addresses that other machines may reach first, then the machine's own.
static void list_addresses(hx_lifeline_call *call) {
  struct ifaddrs *all = NULL;
  uint32_t count = 0;
  if (getifaddrs(&all) != 0) return;
  for (int own = 0; own < 2; ++own) {
    for (const struct ifaddrs *item = all; item != NULL; item = item->ifa_next) {
      if (item->ifa_addr == NULL || (item->ifa_flags & IFF_UP) == 0) continue;
      if (((item->ifa_flags & IFF_LOOPBACK) != 0) != (own == 1)) continue;
      const int family = item->ifa_addr->sa_family;
      if (family == AF_INET || family == AF_INET6) add_address(call, &count, item->ifa_addr);
    }
  }
  freeifaddrs(all);
}

static int open_listener(uint32_t size, uint16_t *out_port) {
  const int file = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int only4 = file < 0 ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
  const int used = file >= 0 ? file : only4;
  if (used < 0) return -1;
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
  struct sockaddr_in four = {.sin_family = AF_INET};
  struct sockaddr_storage found;
  socklen_t length = sizeof found;
  if (file >= 0) set_number(file, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  const int bound = file >= 0 ? bind(used, (struct sockaddr *)(void *)&six, sizeof six)
                              : bind(used, (struct sockaddr *)(void *)&four, sizeof four);
  if (bound != 0 || listen(used, (int)(size > 4096 ? 4096 : size)) != 0 ||
      getsockname(used, (struct sockaddr *)(void *)&found, &length) != 0) {
    close(used);
    return -1;
  }
  // The port lies at the same place in both.
  *out_port = ntohs(((struct sockaddr_in *)(void *)&found)->sin_port);
  return used;
}

int32_t hx_lifeline_listen(uint32_t size, hx_lifeline **out, hx_lifeline_call *out_call, hx_error *error) {
  hx_lifeline *line = create(0, size, size - 1);
  if (line == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to watch %u ranks", size);
  line->listener = open_listener(size, &line->call.port);
  if (line->listener < 0 ||
      getrandom(line->call.secret, sizeof line->call.secret, 0) != (ssize_t)sizeof line->call.secret) {
    const int32_t code = hxs_fail(error, HX_UNAVAILABLE, "no socket for the other ranks: %s", strerror(errno));
    hx_lifeline_close(line);
    return code;
  }
  list_addresses(&line->call);
  *out_call = line->call;
  *out = line;
  return HX_OK;
}

static void write_greeting(const hx_lifeline_call *call, uint32_t rank, uint32_t size, uint8_t out[GREETING_BYTES]) {
  const uint32_t numbers[2] = {htonl(rank), htonl(size)};
  memcpy(out, call->secret, 32);
  memcpy(out + 32, numbers, sizeof numbers);
}

static bool same_secret(const uint8_t *a, const uint8_t *b) {
  uint8_t differs = 0;
  for (size_t i = 0; i < 32; ++i) differs |= (uint8_t)(a[i] ^ b[i]);
  return differs == 0;
}

// One connection: kept where it brings the secret and a rank that has not come yet.
static bool greet(hx_lifeline *line, int file, int64_t deadline) {
  uint8_t greeting[GREETING_BYTES], answer[GREETING_BYTES];
  uint32_t numbers[2];
  const int64_t patience = hx_mpi_now_ms() + CONNECT_MS;
  tune(file);
  if (!read_all(file, greeting, sizeof greeting, patience < deadline ? patience : deadline)) return false;
  memcpy(numbers, greeting + 32, sizeof numbers);
  const uint32_t rank = ntohl(numbers[0]);
  if (!same_secret(greeting, line->call.secret) || ntohl(numbers[1]) != line->size || rank == 0 || rank >= line->size ||
      line->links[rank - 1].file >= 0)
    return false;
  write_greeting(&line->call, 0, line->size, answer);
  if (!write_all(file, answer, sizeof answer, deadline)) return false;
  line->links[rank - 1].file = file;
  return true;
}

static int32_t fail_missing(const hx_lifeline *line, uint32_t timeout_ms, hx_error *error) {
  char ranks[160];
  size_t size = 0;
  ranks[0] = '\0';
  for (uint32_t i = 0; i < line->link_count && size < sizeof ranks - 16; ++i) {
    if (line->links[i].file < 0)
      size += (size_t)snprintf(ranks + size, sizeof ranks - size, "%s%u", size == 0 ? "" : ", ", i + 1);
  }
  return hxs_fail(error, HX_UNAVAILABLE, "no connection from rank %s within %u ms", ranks, timeout_ms);
}

int32_t hx_lifeline_accept(hx_lifeline *line, uint32_t timeout_ms, hx_error *error) {
  const int64_t deadline = hx_mpi_now_ms() + timeout_ms;
  for (uint32_t come = 0; come < line->link_count;) {
    if (!wait_for(line->listener, POLLIN, deadline)) return fail_missing(line, timeout_ms, error);
    const int file = accept4(line->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (file < 0) continue;
    if (greet(line, file, deadline)) {
      come += 1;
    } else {
      close(file);
    }
  }
  close(line->listener);
  line->listener = -1;
  return begin_watching(line, error);
}

static int connect_to(const hx_lifeline_call *call, uint32_t i, int64_t deadline) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(call->port), .sin6_scope_id = call->scope[i]};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(call->port)};
  const bool is_six = call->family[i] == AF_INET6;
  memcpy(&six.sin6_addr, call->address[i], 16);
  memcpy(&four.sin_addr, call->address[i], 4);
  const int file = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return -1;
  tune(file);
  int result = is_six ? connect(file, (struct sockaddr *)(void *)&six, sizeof six)
                      : connect(file, (struct sockaddr *)(void *)&four, sizeof four);
  if (result != 0 && errno == EINPROGRESS && wait_for(file, POLLOUT, deadline)) {
    int failed = 0;
    socklen_t length = sizeof failed;
    result = getsockopt(file, SOL_SOCKET, SO_ERROR, &failed, &length) != 0 || failed != 0 ? -1 : 0;
  }
  if (result == 0) return file;
  close(file);
  return -1;
}

int32_t hx_lifeline_connect(const hx_lifeline_call *call, uint32_t rank, uint32_t size, uint32_t timeout_ms,
                            hx_lifeline **out, hx_error *error) {
  const int64_t last = hx_mpi_now_ms() + timeout_ms;
  hx_lifeline *line = create(rank, size, 1);
  if (line == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to watch rank 0");
  uint8_t greeting[GREETING_BYTES], answer[GREETING_BYTES];
  write_greeting(call, rank, size, greeting);
  for (uint32_t i = 0; i < HX_LIFELINE_HOSTS && call->family[i] != 0 && line->links[0].file < 0; ++i) {
    const int64_t own = hx_mpi_now_ms() + CONNECT_MS, deadline = own < last ? own : last;
    const int file = connect_to(call, i, deadline);
    if (file < 0) continue;
    // Another machine may have the address too: whoever answers has to know the secret.
    if (write_all(file, greeting, sizeof greeting, deadline) &&
        read_all(file, answer, sizeof answer, last < own + CONNECT_MS ? last : own + CONNECT_MS) &&
        same_secret(answer, call->secret)) {
      line->links[0].file = file;
    } else {
      close(file);
    }
  }
  int32_t code = HX_OK;
  if (line->links[0].file < 0)
    code = hxs_fail(error, HX_UNAVAILABLE, "no connection to rank 0 at any of its addresses, port %u", call->port);
  if (code == HX_OK) code = begin_watching(line, error);
  if (code == HX_OK) {
    *out = line;
  } else {
    hx_lifeline_close(line);
  }
  return code;
}

uint32_t hx_lifeline_lost(const hx_lifeline *line) {
  return line == NULL ? HX_NONE : atomic_load_explicit(&line->lost, memory_order_acquire);
}

uint32_t hx_lifeline_left(const hx_lifeline *line) {
  if (line == NULL) return HX_NONE;
  const uint32_t rank = atomic_load_explicit(&line->left, memory_order_acquire);
  return rank == HX_NONE || hx_mpi_now_ms() - atomic_load(&line->left_ms) < GRACE_MS ? HX_NONE : rank;
}

void hx_lifeline_close(hx_lifeline *line) {
  if (line == NULL) return;
  if (line->watches) {
    (void)!write(line->wake[1], "", 1);
    pthread_join(line->thread, NULL);
  }
  for (uint32_t i = 0; i < line->link_count; ++i) {
    tell(&line->links[i], MESSAGE_LEFT, line->rank);
    end_link(&line->links[i]);
  }
  for (int i = 0; i < 2; ++i) {
    if (line->wake[i] >= 0) close(line->wake[i]);
  }
  if (line->listener >= 0) close(line->listener);
  free(line->links);
  free(line);
}
