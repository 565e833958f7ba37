/** Saves a file. The type is generic, so that no browser opens it instead. */
export function download(bytes: Uint8Array<ArrayBuffer>, name: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name.split(/[/\\]/).at(-1) ?? 'file'
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
