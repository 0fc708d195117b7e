/** What an e-mail says. */
export interface EmailContent {
  subject: string
  text: string
  html: string
}

interface EmailDraft {
  subject: string
  /** Plain text without markup. */
  paragraphs: readonly string[]
  /** The one thing to open. */
  link?: { label: string; url: string }
  /** Shown after the link, such as until when it works. */
  closing?: readonly string[]
}

const maxSubjectLength = 150

/**
 * Writes the same content as text and as simple HTML. Names come from users, so they are escaped, and line breaks in a
 * subject, which could add header fields, become spaces.
 */
export function composeEmail({ subject, paragraphs, link, closing = [] }: EmailDraft): EmailContent {
  const before = paragraphs.map(toLine)
  const after = closing.map(toLine)
  const text = [...before, ...(link ? [link.url] : []), ...after].join('\n\n')
  const html = [
    ...before.map(toParagraph),
    ...(link ? [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`] : []),
    ...after.map(toParagraph),
  ].join('\n')
  return {
    subject: toLine(subject).slice(0, maxSubjectLength),
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="en"><body>\n${html}\n</body></html>\n`,
  }
}

/** Replaces control characters and Unicode line breaks. */
function toLine(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
}

function toParagraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character)
}
