/**
 * Executors for model-written code: in a sandbox of the process, in an isolated process, or in Docker.
 *
 * @module
 */
export { type DockerOptions, docker } from './docker/docker.ts'
export type { CodeExecutorOptions } from './executor-options.ts'
export { type IsolatedProcessOptions, isolatedProcess } from './isolated-process/isolated-process.ts'
export type { ResourceLimits } from './isolated-process/resource-limits.ts'
export type { Languages, PresetName } from './languages/languages.ts'
export { type QuickJsOptions, quickjs } from './quickjs/quickjs.ts'
export {
  type UnisolatedLocalProcessOptions,
  unisolatedLocalProcess,
} from './unisolated-process/unisolated-local-process.ts'
