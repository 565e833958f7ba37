/** Standard error without the lines of `withProgress()`. A slow machine prints them where a fast one does not. */
export function withoutProgress(errors: string): string {
  return errors.replace(/^… .*\n/gm, '')
}
