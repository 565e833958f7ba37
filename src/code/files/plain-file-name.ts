/** A name that is a file's and nothing else: no folder, no way up, nothing a terminal or a shell would act on. */
export function isPlainName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || name.length > 200) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  return !/[/\\\u0000-\u001f\u007f\ufffd]/.test(name) && name.isWellFormed()
}
