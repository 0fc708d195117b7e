/** Excel takes a file for UTF-8 only when it begins like this. */
export const byteOrderMark = '\ufeff'

/** Rows as RFC 4180 has them: every line ends with CRLF. */
export function toCsv(rows: readonly (readonly (string | undefined)[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('')
}

function toCell(value: string | undefined): string {
  const text = defuse(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * A spreadsheet would take it for a formula, and run it (OWASP, CSV injection). Where people write decimal
 * commas, it takes a semicolon for the end of a cell, so behind one a formula could begin too.
 */
function defuse(text: string): string {
  return text.replaceAll(/(^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g, "$1'").replace(/^(?=[\t\r])/, "'")
}
