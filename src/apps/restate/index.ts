/**
 * Sessions that Restate schedules over many workers.
 *
 * @module
 */
export type { IngressOptions } from './ingress.ts'
export { RestateEngine, restate } from './restate-engine.ts'
export { type CallTarget, type SealedCall, sealCall } from './sealed-call.ts'
export type { SessionOutcome } from './session-object.ts'
export { type RestateWorker, startRestateWorker } from './start-worker.ts'
export type { RestateWorkerOptions } from './worker-options.ts'
