// The engine. The build replaces this file: there the bytes are inside the text of the worker.
import { readFileSync } from 'node:fs'

const file = new URL(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))

export const wasmBinary: ArrayBuffer = new Uint8Array(readFileSync(file)).buffer
