/**
 * The program of a QuickJS thread. The build replaces this file with the text of the worker including the engine, so that
 * `quickjs()` also works in a bundle without other files and without node_modules.
 */
export const workerProgram: string | URL = new URL('./worker.ts', import.meta.url)
