// SPDX-License-Identifier: Apache-2.0
// Files of kind params, and what kind a file is.
#include <string.h>

#include "core/ckks/file.h"

hx_status_t hx_file_kind(const char *path, hx_file_kind_t *out, hx_report_t *report) {
  hx_artifact_t artifact;
  HX_TRY(hx_artifact_open(path, &artifact, report));
  *out = artifact.kind;
  hx_artifact_close(&artifact);
  return HX_STATUS_OK;
}

void hx_params_writer_init(hx_artifact_writer_t *writer, const hx_params_t *params) {
  hx_artifact_writer_init(writer, HX_FILE_PARAMS, params, NULL);
  hx_artifact_writer_metadata(writer, "parameters", "", hx_params_json(params));
  hx_artifact_writer_metadata(writer, "name", "", hx_params_name(params));
}

hx_status_t hx_params_save(const hx_params_t *params, const char *path, hx_report_t *report) {
  hx_artifact_writer_t writer;
  hx_params_writer_init(&writer, params);
  const hx_status_t status = hx_artifact_writer_save(&writer, path, 0666, report);
  hx_artifact_writer_deinit(&writer);
  return status;
}

// A file may carry any name, but not a preset's for something else.
static hx_status_t check_name(const hx_artifact_t *artifact, const hx_params_t *params, hx_report_t *report) {
  const char *name = hx_container_metadata(artifact->container, "name");
  for (size_t i = 0; name != NULL && i < hx_params_preset_count(); ++i) {
    if (strcmp(name, hx_params_preset_name(i)) != 0 || strcmp(name, hx_params_name(params)) == 0) continue;
    return hx_container_fail(
        artifact->container, report, HX_CODE_FILE_FORMAT,
        "metadata key name in the header at offset 8 is \"%s\", but the parameters are not that preset's", name);
  }
  return HX_STATUS_OK;
}

static hx_status_t check_read(const hx_artifact_t *artifact, const hx_params_t *params, hx_report_t *report) {
  HX_TRY(hx_artifact_check_params(artifact, params, report));
  return check_name(artifact, params, report);
}

hx_status_t hx_params_read(hx_artifact_t *artifact, uint32_t flags, hx_params_t **out, hx_report_t *report) {
  HX_TRY(hx_artifact_expect(artifact, HX_FILE_PARAMS, report));
  const hx_container_t *container = artifact->container;
  if (hx_container_count(container) != 0) {
    return hx_container_fail(container, report, HX_CODE_FILE_FORMAT,
                             "tensor \"%.100s\" does not belong into a file of kind params",
                             hx_container_get(container, 0)->name);
  }
  HX_TRY(hx_container_load(artifact->container, report));
  const char *json = hx_container_metadata(container, "parameters");
  if (json == NULL) {
    return hx_container_fail(container, report, HX_CODE_FILE_FORMAT,
                             "metadata key parameters is missing in the header at offset 8");
  }
  hx_params_t *params = NULL;
  HX_TRY(hx_params_parse(hx_str(json), hx_container_source(container), flags, &params, report));
  const hx_status_t status = check_read(artifact, params, report);
  if (status != HX_STATUS_OK) {
    hx_params_release(params);
    return status;
  }
  *out = params;
  return HX_STATUS_OK;
}

hx_status_t hx_params_load(const char *path, uint32_t flags, hx_params_t **out, hx_report_t *report) {
  hx_artifact_t artifact;
  HX_TRY(hx_artifact_open(path, &artifact, report));
  const hx_status_t status = hx_params_read(&artifact, flags, out, report);
  hx_artifact_close(&artifact);
  return status;
}
