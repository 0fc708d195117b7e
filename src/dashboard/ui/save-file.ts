/** Downloads generated content as a file. */
export function saveFile(name: string, parts: BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Revoked later, because the browser reads the URL after the click returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
