import { t } from '@lingui/core/macro'
import { numberFormat } from '../../language/format.ts'

/** Excel only reads a file as UTF-8 if it starts with a byte order mark. */
export const byteOrderMark = '\ufeff'

/** What separates cells. Excel expects a semicolon where a comma separates decimals, and puts each row into one cell otherwise. */
function readerSeparator(): ',' | ';' {
  return numberFormat().format(1.5).includes(',') ? ';' : ','
}

/** Says which separator a file has, for programs that ask when they import it. */
export function describeSeparator(): string {
  return readerSeparator() === ';' ? t`Columns are separated by semicolons.` : t`Columns are separated by commas.`
}

/** Formats rows as CSV (RFC 4180) for the spreadsheets of the reader. */
export function toCsv(rows: readonly (readonly (string | undefined)[])[]): string {
  const separator = readerSeparator()
  return rows.map((row) => `${row.map(toCell).join(separator)}\r\n`).join('')
}

/** Quoted with either separator, because programs other than the reader's may open the file. */
function toCell(value: string | undefined): string {
  const text = escapeFormulas(value ?? '')
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Escapes text that a spreadsheet would run as a formula (OWASP, CSV injection). A program that expects
 * the other separator starts cells within this one, so a formula could also start after a comma or a semicolon.
 */
function escapeFormulas(text: string): string {
  return text.replaceAll(/(^|[,;\t\r\n])(?=[=+\-@＝＋－＠])/g, "$1'").replace(/^(?=[\t\r])/, "'")
}
