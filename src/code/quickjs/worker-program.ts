/**
 * What the thread of a QuickJS machine runs. The build replaces this file: there it is the text of the worker with the
 * engine inside, so that `quickjs()` also starts from a bundle that has no other file and no node_modules.
 */
export const workerProgram: string | URL = new URL('./worker.ts', import.meta.url)
