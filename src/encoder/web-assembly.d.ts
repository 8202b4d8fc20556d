// What the encoder uses of WebAssembly: https://webassembly.github.io/spec/js-api/. Node's types leave it to those of browsers.
declare namespace WebAssembly {
  class Memory {
    constructor(limits: { initial: number; maximum: number })
    readonly buffer: ArrayBuffer
    /** Adds pages of 64 KiB, and detaches `buffer`. @throws RangeError when there is too little memory */
    grow(pages: number): number
  }
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>)
  }
  class Instance {
    constructor(module: Module, imports: object)
    readonly exports: object
  }
}
