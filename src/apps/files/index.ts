/**
 * Artifacts as files in a folder, without a dependency.
 *
 * @module
 */
export { type FileServices, type FilesOptions, files } from './files.ts'
