import {
  type MessageButton,
  type MessageCard,
  type MessageHeader,
  OneTimeCode,
} from '../../contracts/api/components.ts'
import type { SendMessageRequest } from '../../contracts/api/message.ts'
import type { Template, TemplateComponent } from '../../contracts/api/template.ts'
import { inEnglish, type Sentence } from '../../contracts/facts/fact.ts'
import type { StoredComponent } from '../platform/db/schema.ts'
import { findCouponProblem } from './fill/button-values.ts'
import { type ButtonPart, type HeaderPart, listTemplateParts, type SectionParts } from './fill/parts.ts'
import { fillTemplate, findCodeProblem, type TemplateValues } from './fill/values.ts'
import { listPlaceholders, type TemplateText } from './placeholders.ts'
import { writeSendSchema } from './send-schema.ts'
import type { TemplateRow } from './store.ts'

/** Converts a row to the API's template. */
export function toTemplate(row: TemplateRow): Template {
  const { name, language } = row
  const reason = findObstacle(row)
  const example = writeExample(row)
  const sendSchema = writeSendSchema(row)
  return {
    name,
    language,
    status: row.status,
    ...(row.category !== null && { category: row.category }),
    sendable: reason === undefined,
    ...(reason !== undefined && { reason: inEnglish(reason) }),
    // WhatsApp returns NONE for templates that it did not reject (reference, section 3.1).
    ...(row.rejectedReason !== null && row.rejectedReason !== 'NONE' && { rejectedReason: row.rejectedReason }),
    placeholders: [...listPlaceholders(row)],
    components: row.components.map(toComponent),
    ...(example && { example }),
    ...(sendSchema && { sendSchema }),
    syncedAt: row.syncedAt.toISOString(),
  }
}

/** Why the template cannot be sent; undefined if it can. */
export function findObstacle(row: TemplateRow): Sentence | undefined {
  return row.status === 'APPROVED' ? listTemplateParts(row).unsupported : `its status is ${row.status}`
}

function toComponent({ cards, ...component }: StoredComponent): TemplateComponent {
  return {
    ...toCardComponent(component),
    ...(cards !== undefined && {
      cards: cards.map(({ components }) => ({ components: components.map(toCardComponent) })),
    }),
  }
}

function toCardComponent({ type, format, text, buttons }: StoredComponent): Omit<TemplateComponent, 'cards'> {
  return {
    type,
    ...(format !== undefined && { format }),
    ...(text !== undefined && { text }),
    ...(buttons !== undefined && { buttons: buttons.map(toButton) }),
  }
}

function toButton({ type, text, url }: NonNullable<StoredComponent['buttons']>[number]) {
  return { type, ...(text !== undefined && { text }), ...(url !== undefined && { url }) }
}

/** The recipient in the examples of the API documentation. */
const to = '34600111222'

/**
 * Returns a valid send of this template with all required values: the template's own examples if they can be sent,
 * otherwise placeholder values. Undefined if no send can fill the template.
 */
export function writeExample(
  template: TemplateText & { name: string; language: string },
): SendMessageRequest | undefined {
  if (listTemplateParts(template).unsupported !== undefined) return undefined
  const { name, language } = template
  for (const choose of [keepExample, dropExample]) {
    const values = writeValues(template, choose)
    if (fillTemplate(template, values).problems.length === 0) return { to, template: name, language, ...values }
  }
  return undefined
}

type ChooseExample = (example: string | undefined) => string | undefined

const keepExample: ChooseExample = (example) => example
const dropExample: ChooseExample = () => undefined

function writeValues(template: TemplateText, choose: ChooseExample): TemplateValues {
  const parts = listTemplateParts(template)
  if (parts.codeButton) return { code: writeCode(choose(listPlaceholders(template)[0]?.example)) }
  const { cards, offer } = parts
  return {
    ...writeSection(template, parts, choose),
    ...(cards && { cards: cards.map((card) => writeSection(card.text, card, choose)) }),
    ...(offer?.hasExpiration && { limitedTimeOffer: { expiresAt: '2030-01-01T00:00:00.000Z' } }),
  }
}

function writeSection(template: TemplateText, { header, buttons }: SectionParts, choose: ChooseExample): MessageCard {
  const placeholders = listPlaceholders(template)
  const required = buttons.filter(({ isRequired }) => isRequired)
  return {
    ...(placeholders.length > 0 && {
      variables: Object.fromEntries(placeholders.map(({ key, example }) => [key, choose(example) ?? 'x'])),
    }),
    ...(header && { header: writeHeader(header, choose) }),
    ...(required.length > 0 && { buttons: required.map((button) => writeButton(button, choose)) }),
  }
}

function writeCode(example = '123456'): string {
  return OneTimeCode.safeParse(example).success && findCodeProblem(example) === undefined ? example : '123456'
}

function writeHeader(part: HeaderPart, choose: ChooseExample): MessageHeader {
  switch (part.kind) {
    case 'text':
      return { text: choose(part.example) ?? 'x' }
    // The template's own sample cannot be sent, because WhatsApp does not download it from its own servers.
    case 'image':
      return { image: { link: 'https://example.com/image.jpg' } }
    case 'video':
      return { video: { link: 'https://example.com/video.mp4' } }
    case 'document':
      return { document: { link: 'https://example.com/document.pdf', filename: 'document.pdf' } }
    case 'location':
      return { location: { latitude: 48.1374, longitude: 11.5755, name: 'Depot 7', address: 'Ringstr. 1, Munich' } }
    case 'product':
      return { product: { catalogId: '194836987003835', productId: 'sku-1' } }
  }
}

function writeButton({ index, field, url = '', example }: ButtonPart, choose: ChooseExample): MessageButton {
  if (field === 'url') return { index, url: writeSuffix(url, choose(example)) }
  if (field === 'couponCode') {
    const code = choose(example) ?? ''
    return { index, couponCode: findCouponProblem(code) === undefined ? code : 'SPRING9' }
  }
  return {
    index,
    products: { thumbnailProductId: 'sku-1', sections: [{ title: 'Products', productIds: ['sku-1'] }] },
  }
}

/** WhatsApp lists either the whole URL as the example, or only its suffix (reference, contradictions). */
function writeSuffix(url: string, example: string | undefined): string {
  const start = url.slice(0, url.indexOf('{{'))
  const suffix = example?.startsWith(start) ? example.slice(start.length) : example
  return suffix === undefined || suffix === '' || suffix.includes('://') ? 'x' : suffix
}
