// The custom form is refused with what to do.
module {
  func.func @main() {
    return
  }
}
// ---
2:1: custom-form: module is in MLIR's custom form; only the generic form is read: print it with --mlir-print-op-generic
