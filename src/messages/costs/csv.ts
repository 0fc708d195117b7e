/** The values of one line of CSV (RFC 4180), without line breaks in values; undefined if a quotation mark is misplaced. */
export function readCsvLine(line: string): string[] | undefined {
  const values: string[] = []
  for (let at = 0; ;) {
    const value = line[at] === '"' ? readQuoted(line, at) : readPlain(line, at)
    if (!value) return undefined
    values.push(value.text)
    if (value.end === line.length) return values
    if (line[value.end] !== ',') return undefined
    at = value.end + 1
  }
}

interface Value {
  text: string
  end: number
}

function readPlain(line: string, start: number): Value | undefined {
  const comma = line.indexOf(',', start)
  const end = comma < 0 ? line.length : comma
  const text = line.slice(start, end)
  return text.includes('"') ? undefined : { text, end }
}

function readQuoted(line: string, start: number): Value | undefined {
  let text = ''
  for (let at = start + 1; ;) {
    const quote = line.indexOf('"', at)
    if (quote < 0) return undefined
    text += line.slice(at, quote)
    if (line[quote + 1] !== '"') return { text, end: quote + 1 }
    text += '"'
    at = quote + 2
  }
}
