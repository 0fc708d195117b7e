/** An ISO time as `<input type="datetime-local">` takes it: in the reader's own zone, to the minute. */
export function toLocalInput(at: string): string {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The other way; undefined while it is not filled in. */
export function fromLocalInput(text: string): string | undefined {
  const time = new Date(text)
  return text === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
