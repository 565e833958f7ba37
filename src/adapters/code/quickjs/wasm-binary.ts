// The QuickJS engine. The build replaces this file with one that contains the bytes.
import { readFileSync } from 'node:fs'

const file = new URL(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))

/** The engine as WebAssembly. */
export const wasmBinary: ArrayBuffer = new Uint8Array(readFileSync(file)).buffer
