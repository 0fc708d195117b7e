const placeholder = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

/** Fills in what was typed; a placeholder without a value stays to be seen. */
export function fillText(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(placeholder, (whole, key: string) =>
    Object.hasOwn(variables, key) && variables[key] !== '' ? (variables[key] ?? whole) : whole,
  )
}

/** The text in turns: what stands between the placeholders, and each of those. */
export function splitPlaceholders(text: string): { text: string; isPlaceholder: boolean }[] {
  return text
    .split(/(\{\{\s*[A-Za-z0-9_]+\s*\}\})/)
    .map((part, index) => ({ text: part, isPlaceholder: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}

/** A message as WhatsApp formats it. */
export type Piece = { kind: 'text' | 'mono'; text: string } | { kind: 'bold' | 'italic' | 'strike'; pieces: Piece[] }

const marks = { '*': 'bold', _: 'italic', '~': 'strike' } as const

/**
 * Three backticks, or one, keep what is between them as it is. The other marks stand around words on one
 * line: before a mark that opens there is no letter, behind it no space, and the reverse where it closes.
 */
const formatted =
  /```(?<block>[\s\S]+?)```|`(?<inline>[^`\n]+)`|(?<![\p{L}\p{N}])(?<mark>[*_~])(?!\s|\k<mark>)(?<marked>.*?\S)\k<mark>(?![\p{L}\p{N}])/gu

/** WhatsApp's own marks: `*bold*`, `_italic_`, `~strike~` and "```mono```". */
export function parseFormatting(text: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const match of text.matchAll(formatted)) {
    if (match.index > end) pieces.push({ kind: 'text', text: text.slice(end, match.index) })
    pieces.push(toPiece(match.groups ?? {}))
    end = match.index + match[0].length
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) })
  return pieces
}

function toPiece({ block, inline, mark, marked }: Record<string, string | undefined>): Piece {
  const mono = block ?? inline
  if (mono !== undefined) return { kind: 'mono', text: mono }
  // One of the alternatives matched: without backticks, it was a mark.
  return { kind: marks[mark as keyof typeof marks], pieces: parseFormatting(marked ?? '') }
}
