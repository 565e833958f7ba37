// Turns errors of the file system into ToolwrightErrors that say what to do.
import { messageOf, ToolwrightError } from '../../core/error/error.ts'

/** The code of an error of the file system, such as `ENOENT`. Undefined for other errors. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The error of a failed read or write in the folder of `files()`. */
export function storageError(error: unknown, folder: string): ToolwrightError {
  if (error instanceof ToolwrightError) return error
  return new ToolwrightError('STORAGE', `The folder "${folder}" ${reasonOf(error)}`, { cause: error })
}

/** The error for files that are not as they were written. */
export function damaged(path: string, problem: string, cause?: unknown): ToolwrightError {
  const message = `The artifact in "${path}" is damaged (${problem}). Restore its folder from a backup.`
  return new ToolwrightError('STORAGE', message, { cause })
}

/** The error for a folder that leads somewhere else. */
export function linkedFolder(path: string, target: string): ToolwrightError {
  const message = `"${path}" leads to "${target}". files() follows no links: move the files into the folder itself.`
  return new ToolwrightError('STORAGE', message)
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'cannot grow: the disk is full. Free disk space; nothing was saved.'
    case 'EFBIG':
      return 'cannot hold a file of this size: the system limits it. Raise the limit; nothing was saved.'
    case 'EACCES':
    case 'EPERM':
      return 'is not accessible. Check the permissions of the folder and what is in it.'
    case 'EROFS':
      return 'is read-only. Mount its disk for writing, or pass another folder to files().'
    case 'EMFILE':
    case 'ENFILE':
      return 'cannot be read: too many files are open. Raise the limit of open files.'
    case 'ENOTDIR':
      return 'has a file where a folder should be. Remove the file, or pass another folder to files().'
    default:
      return `had an error: ${messageOf(error)}. Check its disk.`
  }
}
