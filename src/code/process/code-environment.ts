/** What code finds in its environment, and nothing else of ours. */
export function codeEnvironment(workFolder: string, tempFolder: string): Readonly<Record<string, string>> {
  return {
    HOME: workFolder,
    TMPDIR: tempFolder,
    LANG: 'C.UTF-8',
    PYTHONPATH: workFolder,
    PYTHONUNBUFFERED: '1', // what was printed before the deadline is not lost
    PYTHONDONTWRITEBYTECODE: '1', // no folder of bytecode among its files
  }
}
