/** The environment variables of the code. Nothing of the host's environment is passed on: it may hold secrets. */
export function codeEnvironment(workFolder: string, tempFolder: string): Readonly<Record<string, string>> {
  return {
    HOME: workFolder,
    TMPDIR: tempFolder,
    LANG: 'C.UTF-8',
    PYTHONPATH: workFolder,
    PYTHONUNBUFFERED: '1', // output printed before the deadline is not lost
    PYTHONDONTWRITEBYTECODE: '1', // no __pycache__ folder among the output files
  }
}
