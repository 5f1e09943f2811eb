// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"
#include "heliox/support/sha256.h"

#define IMAGE_BYTES_MAX ((long)64 << 20)

const hx_cuda_image_t *hx_cuda_image_choose(const hx_cuda_image_t *images, uint32_t count, uint32_t arch,
                                            int32_t driver_version) {
  const hx_cuda_image_t *best = NULL;
  for (uint32_t i = 0; i < count; i++) {
    const hx_cuda_image_t *image = &images[i];
    if (!image->ptx && image->arch / 10 == arch / 10 && image->arch <= arch &&
        (best == NULL || image->arch > best->arch)) {
      best = image;
    }
  }
  for (uint32_t i = 0; best == NULL && i < count; i++) {
    if (images[i].ptx && images[i].arch <= arch && (int64_t)images[i].toolkit <= driver_version) {
      best = &images[i];
    }
  }
  return best;
}

static int32_t read_file(const char *path, char **out, size_t *out_size, hx_error *error) {
  FILE *file = fopen(path, "rbe");
  if (file == NULL) {
    return hxs_fail(error, HX_UNAVAILABLE, "kernel image %s cannot be read: %s", path, strerror(errno));
  }
  char *bytes = NULL;
  long size = -1;
  if (fseek(file, 0, SEEK_END) == 0) {
    size = ftell(file);
  }
  const bool fits = size > 0 && size <= IMAGE_BYTES_MAX && fseek(file, 0, SEEK_SET) == 0;
  bytes = fits ? malloc((size_t)size + 1) : NULL;
  const bool whole = bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size;
  fclose(file);
  if (!whole) {
    free(bytes);
    return hxs_fail(error, fits && bytes == NULL ? HX_OUT_OF_MEMORY : HX_UNAVAILABLE,
                    "kernel image %s of %ld bytes cannot be read whole", path, size);
  }
  bytes[size] = 0;
  *out = bytes;
  *out_size = (size_t)size;
  return HX_OK;
}

int32_t hx_cuda_image_read(const hx_cuda_image_t *image, const char *directory, char **out, hx_error *error) {
  char path[4200], digest[65];
  size_t size = 0;
  if (snprintf(path, sizeof path, "%s/%s", directory, image->file) >= (int)sizeof path) {
    return hxs_fail(error, HX_UNAVAILABLE, "the path of kernel image %s is too long", image->file);
  }
  HXS_TRY(read_file(path, out, &size, error));
  hxs_sha256_text(*out, size, digest);
  if (strcmp(digest, image->sha256) != 0) {
    free(*out);
    *out = NULL;
    return hxs_fail(error, HX_UNAVAILABLE, "kernel image %s has digest %.16s..., must have %.16s...; install it again",
                    image->file, digest, image->sha256);
  }
  return HX_OK;
}
