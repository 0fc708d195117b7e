import type {
  MediaReference,
  OutgoingButton,
  OutgoingCard,
  OutgoingHeader,
  OutgoingTemplate,
  TextParameter,
} from '../whatsapp.ts'

type OutgoingContent = Omit<OutgoingTemplate, 'to' | 'name' | 'language' | 'callbackData'>

/** Returns `template.components` of a send: only those that need a value (reference, section 1). */
export function toComponents(message: OutgoingContent): object[] {
  if (message.components) return message.components
  const components = toCardComponents(message)
  const { cards, limitedTimeOffer } = message
  if (limitedTimeOffer) components.push(toOffer(limitedTimeOffer.expiresAt))
  if (cards)
    components.push({
      type: 'carousel',
      cards: cards.map((card, index) => ({ card_index: index, components: toCardComponents(card) })),
    })
  return components
}

/** Returns the components that both messages and cards can have. */
function toCardComponents({ parameters, header, buttons }: OutgoingCard): object[] {
  const components: object[] = []
  if (header) components.push({ type: 'header', parameters: [toHeaderParameter(header)] })
  if (parameters.length > 0) components.push({ type: 'body', parameters: parameters.map(toTextParameter) })
  for (const button of buttons ?? []) components.push(toButtonComponent(button))
  return components
}

function toOffer(expiresAt: Date): object {
  const parameter = { type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: expiresAt.getTime() } }
  return { type: 'limited_time_offer', parameters: [parameter] }
}

function toTextParameter({ name, text }: TextParameter): object {
  return name === undefined ? { type: 'text', text } : { type: 'text', parameter_name: name, text }
}

function toHeaderParameter(header: OutgoingHeader): object {
  switch (header.kind) {
    case 'text':
      return toTextParameter(header)
    case 'image':
      return { type: 'image', image: toMedia(header.media) }
    case 'video':
      return { type: 'video', video: toMedia(header.media) }
    case 'document': {
      const { media, filename } = header
      return { type: 'document', document: { ...toMedia(media), ...(filename !== undefined && { filename }) } }
    }
    case 'location': {
      const { latitude, longitude, name, address } = header
      // Meta's examples hold the degrees as text.
      const degrees = { latitude: String(latitude), longitude: String(longitude) }
      const labels = { ...(name !== undefined && { name }), ...(address !== undefined && { address }) }
      return { type: 'location', location: { ...degrees, ...labels } }
    }
    case 'product':
      return {
        type: 'product',
        product: { product_retailer_id: header.productId, catalog_id: header.catalogId },
      }
  }
}

function toMedia(media: MediaReference): object {
  return 'link' in media ? { link: media.link } : { id: media.id }
}

function toButtonComponent(button: OutgoingButton): object {
  const { subType, parameter } = toButtonParameter(button)
  return {
    type: 'button',
    sub_type: subType,
    index: String(button.index),
    ...(parameter && { parameters: [parameter] }),
  }
}

function toButtonParameter(button: OutgoingButton): { subType: string; parameter: object | undefined } {
  switch (button.kind) {
    case 'url':
      return { subType: 'url', parameter: { type: 'text', text: button.text } }
    case 'quickReply':
      return { subType: 'quick_reply', parameter: { type: 'payload', payload: button.payload } }
    case 'copyCode':
      return { subType: 'copy_code', parameter: { type: 'coupon_code', coupon_code: button.couponCode } }
    case 'flow': {
      const { token, data } = button
      const action = { ...(token !== undefined && { flow_token: token }), ...(data && { flow_action_data: data }) }
      const hasValue = token !== undefined || data !== undefined
      return { subType: 'flow', parameter: hasValue ? { type: 'action', action } : undefined }
    }
    case 'catalog':
      return {
        subType: 'catalog',
        parameter: { type: 'action', action: { thumbnail_product_retailer_id: button.thumbnailProductId } },
      }
    case 'products':
      return { subType: 'mpm', parameter: { type: 'action', action: toProductAction(button) } }
  }
}

function toProductAction({ thumbnailProductId, sections }: Extract<OutgoingButton, { kind: 'products' }>): object {
  return {
    thumbnail_product_retailer_id: thumbnailProductId,
    sections: sections.map(({ title, productIds }) => ({
      title,
      product_items: productIds.map((id) => ({ product_retailer_id: id })),
    })),
  }
}
