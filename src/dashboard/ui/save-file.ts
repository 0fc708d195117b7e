/** Has the browser keep what the page has made. */
export function saveFile(name: string, parts: BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Not at once: the browser reads it after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
