/** Whether a name is a single file name: no folder, no `..`, no control character that a terminal or shell would act on. */
export function isPlainFileName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || name.length > 200) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses
  return !/[/\\\u0000-\u001f\u007f\ufffd]/.test(name) && name.isWellFormed()
}
