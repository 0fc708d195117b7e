import { componentLimits, type DocumentFile, type MessageHeader } from '../../../contracts/api/components.ts'
import { nameOfLink } from '../../media/types.ts'
import { isPublicHost } from '../../webhooks/endpoints/address.ts'
import type { MediaReference, OutgoingHeader } from '../../whatsapp/whatsapp.ts'
import type { HeaderPart } from './parts.ts'
import type { ReportProblem } from './problem.ts'
import { fill } from '../placeholders.ts'
import { countCharacters, findValueProblem } from './variables.ts'

const samples: Record<HeaderPart['kind'], string> = {
  text: '{"text": "…"}',
  image: '{"image": {"link": "https://…"}}',
  video: '{"video": {"link": "https://…"}}',
  document: '{"document": {"link": "https://…", "filename": "…"}}',
  location: '{"location": {"latitude": …, "longitude": …, "name": "…", "address": "…"}}',
  product: '{"product": {"catalogId": "…", "productId": "…"}}',
}

/** Returns the header in WhatsApp's format; undefined if there is none, or if it does not fit the template. */
export function fillHeader(
  part: HeaderPart | undefined,
  header: MessageHeader | undefined,
  report: ReportProblem,
): OutgoingHeader | undefined {
  if (!part) {
    if (header)
      report({ path: ['header'], problem: 'the template has no header that takes a value; remove this field' })
    return undefined
  }
  const filled = header && toOutgoing(part, header)
  if (!filled) {
    const problem = `${header ? 'must be' : 'is missing; send'} ${samples[part.kind]}`
    report({ path: ['header'], part: describe(part), problem })
    return undefined
  }
  const problem = findProblem(part, filled)
  if (problem !== undefined) report({ path: ['header', ...problem.path], part: describe(part), problem: problem.text })
  return filled
}

/** For example `text header 'Order {{1}}'` or `document header`. */
function describe(part: HeaderPart): string {
  return part.kind === 'text' ? `text header '${part.text}'` : `${part.kind} header`
}

/** Undefined if the header has a value of another kind. */
function toOutgoing(part: HeaderPart, header: MessageHeader): OutgoingHeader | undefined {
  const { text, image, video, document, location, product } = header
  switch (part.kind) {
    case 'text':
      return text === undefined ? undefined : { kind: 'text', name: part.name, text }
    case 'image':
      return image && { kind: 'image', media: toReference(image) }
    case 'video':
      return video && { kind: 'video', media: toReference(video) }
    case 'document':
      return document && { kind: 'document', media: toReference(document), filename: nameOfDocument(document) }
    case 'location':
      return location && { kind: 'location', ...location }
    case 'product':
      return product && { kind: 'product', ...product }
  }
}

/** Without a name, the recipient sees "Untitled". A document by ID gets the name of its upload later. */
function nameOfDocument({ filename, link }: DocumentFile): string | undefined {
  return filename ?? (link !== undefined && URL.canParse(link) ? nameOfLink(link) : undefined)
}

/** The contract requires exactly one of the two. */
function toReference({ link, mediaId }: DocumentFile): MediaReference {
  return mediaId === undefined ? { link: link ?? '' } : { id: mediaId }
}

function findProblem(part: HeaderPart, filled: OutgoingHeader): { path: string[]; text: string } | undefined {
  if (part.kind === 'text' && filled.kind === 'text') {
    const text = findTextProblem(part, filled.text)
    return text === undefined ? undefined : { path: ['text'], text }
  }
  if (!('media' in filled) || !('link' in filled.media)) return undefined
  const text = findLinkProblem(filled.media.link)
  return text === undefined ? undefined : { path: [filled.kind, 'link'], text }
}

function findTextProblem({ text, key }: Extract<HeaderPart, { kind: 'text' }>, value: string): string | undefined {
  const problem = findValueProblem(value)
  if (problem !== undefined) return problem
  const limit = componentLimits.headerCharacters
  const length = countCharacters(fill(text, { [key]: value }), limit)
  return length <= limit ? undefined : `makes the header ${length} characters long; WhatsApp allows at most ${limit}`
}

/** WhatsApp serves the samples of templates from this host, but does not download from it (reference, section 1.1). */
const sampleHost = 'scontent.whatsapp.net'

function findLinkProblem(link: string): string | undefined {
  const url = URL.parse(link)
  if (!url || !isPublicHost(url.hostname))
    return 'must be an address that WhatsApp can reach from the internet, such as https://example.com/file.pdf'
  if (url.username !== '' || url.password !== '')
    return 'must not contain a user name or password, because WhatsApp downloads the file without signing in'
  return url.hostname === sampleHost
    ? "must not be the sample's address in the list of templates, which WhatsApp does not download; use one of your own"
    : undefined
}
