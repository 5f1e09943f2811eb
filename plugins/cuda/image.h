// SPDX-License-Identifier: Apache-2.0
// The kernel images: one cubin for each architecture and PTX of the lowest, files beside the library. Names and digests
// are compiled in (they stand in the manifest too), so that a file is used only if it is the one that was built.
#ifndef HX_CUDA_IMAGE_H
#define HX_CUDA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "heliox/plugin.h"

typedef struct hx_cuda_image {
  uint32_t arch;     // 90: compute capability 9.0
  bool ptx;          // compiled by the driver
  uint32_t toolkit;  // that made it, as 13000; a driver compiles PTX of its own version or older
  const char *file;
  char sha256[65];
} hx_cuda_image_t;

extern const hx_cuda_image_t hx_cuda_images[];
extern const uint32_t hx_cuda_image_count;

// The image for a device of capability `arch` (90) under a driver of that version: the newest cubin of the same major
// capability that is not newer, else PTX where the driver is new enough. NULL: none.
const hx_cuda_image_t *hx_cuda_image_choose(const hx_cuda_image_t *images, uint32_t count, uint32_t arch,
                                            int32_t driver_version);
// Reads an image whole from a directory and compares its digest. *out ends in a NUL and is the caller's (free).
//   HX_UNAVAILABLE    the file cannot be read, or is another one: both digests are named
int32_t hx_cuda_image_read(const hx_cuda_image_t *image, const char *directory, char **out, hx_error *error);

#endif
