import type { MessagePreview, PreviewButton, PreviewCard, PreviewMedia } from '../../contracts/api/message.ts'
import type { OutgoingCard, OutgoingHeader, OutgoingTemplate } from '../whatsapp/whatsapp.ts'
import { type ButtonPart, type CardPart, listTemplateParts } from './fill/parts.ts'
import { fill, fillUrl, findText, listPlaceholders, type TemplateText } from './placeholders.ts'
import type { FilledTemplate } from './fill/values.ts'

/** Returns the parts of a message as the recipient will see them. */
export function renderMessage(
  template: TemplateText,
  filled: FilledTemplate,
): Pick<MessagePreview, 'header' | 'headerMedia' | 'body' | 'footer' | 'buttons' | 'buttonDetails' | 'cards'> {
  const { components } = template
  const parts = listTemplateParts(template)
  const header = findText(components, 'HEADER')
  const headerMedia = filled.header && toMedia(filled.header)
  const footer = findText(components, 'FOOTER')
  const buttons = parts.buttons.map((part) => toButton(part, filled.buttons ?? []))
  return {
    ...(header !== undefined && { header: renderHeader(template, header, filled) }),
    ...(headerMedia && { headerMedia }),
    body: fill(findText(components, 'BODY') ?? '', variablesOf(template, filled)),
    ...(footer !== undefined && { footer }),
    ...(buttons.length > 0 && { buttons: buttons.map(({ text }) => text), buttonDetails: buttons }),
    ...(filled.cards && { cards: filled.cards.flatMap((card, index) => renderCard(parts.cards, card, index)) }),
  }
}

function renderCard(parts: readonly CardPart[] | undefined, card: OutgoingCard, index: number): PreviewCard[] {
  const part = parts?.[index] ?? parts?.[0]
  if (!part) return []
  const headerMedia = card.header && toMedia(card.header)
  const body = findText(part.text.components, 'BODY')
  const buttons = part.buttons.map((button) => toButton(button, card.buttons ?? []))
  return [
    {
      ...(headerMedia && { headerMedia }),
      ...(body !== undefined && { body: fill(body, variablesOf(part.text, card)) }),
      ...(buttons.length > 0 && { buttonDetails: buttons }),
    },
  ]
}

/** The parameters have the names of the placeholders, or are in their order. */
function variablesOf(
  template: TemplateText,
  { parameters }: Pick<FilledTemplate, 'parameters'>,
): Record<string, string> {
  return Object.fromEntries(listPlaceholders(template).map(({ key }, index) => [key, textOf(parameters, key, index)]))
}

function textOf(parameters: FilledTemplate['parameters'], key: string, index: number): string {
  const parameter = parameters.find(({ name }) => name === key) ?? parameters[index]
  return parameter?.text ?? `{{${key}}}`
}

function renderHeader(template: TemplateText, text: string, { header }: FilledTemplate): string {
  const part = listTemplateParts(template).header
  return part?.kind === 'text' && header?.kind === 'text' ? fill(text, { [part.key]: header.text }) : text
}

function toMedia(header: OutgoingHeader): PreviewMedia | undefined {
  switch (header.kind) {
    case 'text':
      return undefined
    case 'image':
    case 'video':
    case 'document': {
      const { kind, media } = header
      const filename = kind === 'document' ? header.filename : undefined
      const file = 'link' in media ? { link: media.link } : { mediaId: media.id }
      return { type: kind, ...file, ...(filename !== undefined && { filename }) }
    }
    case 'location': {
      const { kind, ...place } = header
      return { type: kind, ...place }
    }
    case 'product':
      return { type: 'product', productId: header.productId }
  }
}

function toButton(part: ButtonPart, filled: NonNullable<OutgoingTemplate['buttons']>): PreviewButton {
  const { index, type, label, url } = part
  const value = filled.find((button) => button.index === index)
  const address = value?.kind === 'url' && url !== undefined ? fillUrl(url, value.text) : url
  return {
    index,
    type,
    text: label,
    ...(address !== undefined && { url: address }),
    ...(value?.kind === 'quickReply' && { payload: value.payload }),
    ...(value?.kind === 'copyCode' && { couponCode: value.couponCode }),
  }
}
