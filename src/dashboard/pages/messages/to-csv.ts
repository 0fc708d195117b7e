/** Excel only reads a file as UTF-8 if it starts with a byte order mark. */
export const byteOrderMark = '\ufeff'

/** Formats rows as CSV (RFC 4180). */
export function toCsv(rows: readonly (readonly (string | undefined)[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('')
}

function toCell(value: string | undefined): string {
  const text = escapeFormulas(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Escapes text that a spreadsheet would run as a formula (OWASP, CSV injection). In locales with decimal commas, a
 * semicolon separates cells, so a formula could also start after one.
 */
function escapeFormulas(text: string): string {
  return text.replaceAll(/(^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g, "$1'").replace(/^(?=[\t\r])/, "'")
}
