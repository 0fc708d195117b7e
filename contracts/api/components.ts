import { z } from 'zod'
import { problems } from '../facts/problems.ts'
import { nonEmptyText, publicAddress, singleLine, textUpTo, Timestamp, wholeNumber, withExample } from '../fields.ts'

/** WhatsApp's limits for the values of a template (Meta, "Template components" and the pages of each kind). */
export const componentLimits = {
  buttons: 10,
  headerCharacters: 60,
  urlCharacters: 2000,
  codeCharacters: 15,
  couponCodeCharacters: 20,
  cards: 10,
  productSections: 10,
  products: 30,
  sectionTitleCharacters: 24,
} as const

export const Variables = z
  .record(z.string(), z.string('must be a string: write "42", not 42'))
  .describe(
    'Values for the placeholders of the template body: key `"1"` fills `{{1}}`. A template with named placeholders takes their names as keys. Values must not be empty and must not hold a newline, a tab or more than four spaces in a row.',
  )
  .meta({ id: 'Variables', examples: [{ '1': 'Ada', '2': 'WB-1042' }] })
export type Variables = z.infer<typeof Variables>

/** Maximum nesting of JSON that is passed on to WhatsApp. */
const maxDepth = 16

/** Requires exactly one of the optional fields. `minProperties` and `maxProperties` express this in JSON Schema. */
function exactlyOne<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape, z.core.$strict>,
  additional: string[] = [],
) {
  const names = Object.keys(schema.shape).filter((name) => !additional.includes(name))
  const count = additional.length + 1
  return schema
    .refine((value) => countFields(value, names) === 1, `must have exactly one of ${names.join(', ')}`)
    .meta({ minProperties: count, maxProperties: count })
}

function countFields(value: Readonly<Record<string, unknown>>, names: string[]): number {
  return names.filter((name) => value[name] !== undefined).length
}

const link = withExample(
  textUpTo(4096).regex(publicAddress, 'must be a public http or https address, such as https://…/file.pdf'),
  'Public address of the file. WhatsApp downloads it after it accepts the message; Waybill does not.',
  'https://example.com/invoice.pdf',
)

const mediaId = withExample(
  z
    .string()
    .regex(
      /^(?:[0-9]{1,32}|med_[0-9a-z]{26})$/,
      'must be the ID of an uploaded file: med_… of Waybill, or the digits of WhatsApp',
    ),
  'ID of an uploaded file, such as `med_01kah3b9mzf5vt2d0wq8r6x4ye`. The digits of WhatsApp are accepted too, for a file that was uploaded to WhatsApp from the same phone number.',
  'med_01kah3b9mzf5vt2d0wq8r6x4ye',
)

export const MediaFile = exactlyOne(z.strictObject({ link: link.optional(), mediaId: mediaId.optional() }))
  .describe('An image or a video: either `link` or `mediaId`.')
  .meta({ id: 'MediaFile', examples: [{ link: 'https://example.com/photo.jpg' }] })

export const DocumentFile = z
  .strictObject({
    link: link.optional(),
    mediaId: mediaId.optional(),
    filename: withExample(
      singleLine(240).optional(),
      'Name that the recipient sees. Its extension determines the icon.',
      'invoice.pdf',
    ),
  })
  .refine((value) => countFields(value, ['link', 'mediaId']) === 1, 'must have exactly one of link, mediaId')
  .describe('A document: either `link` or `mediaId`.')
  .meta({
    id: 'DocumentFile',
    minProperties: 1,
    examples: [{ link: 'https://example.com/invoice.pdf', filename: 'invoice.pdf' }],
  })
export type DocumentFile = z.infer<typeof DocumentFile>

export const MessageLocation = z
  .strictObject({
    latitude: withExample(
      z
        .number()
        .min(-90, problems.atLeast({ min: -90 }))
        .max(90, problems.atMost({ max: 90 })),
      'Degrees north of the equator.',
      48.1374,
    ),
    longitude: withExample(
      z
        .number()
        .min(-180, problems.atLeast({ min: -180 }))
        .max(180, problems.atMost({ max: 180 })),
      'Degrees east of Greenwich.',
      11.5755,
    ),
    name: withExample(singleLine(1000).optional(), 'Name of the place.', 'Depot 7'),
    address: withExample(singleLine(1000).optional(), 'Address of the place.', 'Ringstr. 1, Munich'),
  })
  .describe('A place on the map.')
  .meta({
    id: 'MessageLocation',
    examples: [{ latitude: 48.1374, longitude: 11.5755, name: 'Depot 7', address: 'Ringstr. 1, Munich' }],
  })

const productId = withExample(singleLine(256), 'ID of the product in the catalogue (`product_retailer_id`).', 'sku-1')

export const MessageProduct = z
  .strictObject({
    catalogId: withExample(singleLine(64), 'ID of the catalogue.', '194836987003835'),
    productId,
  })
  .describe('A product of a catalogue.')
  .meta({ id: 'MessageProduct', examples: [{ catalogId: '194836987003835', productId: 'sku-1' }] })

export const MessageHeader = exactlyOne(
  z.strictObject({
    text: withExample(z.string().optional(), 'Value of the variable in a text header.', 'A-1024'),
    image: MediaFile.optional(),
    video: MediaFile.optional(),
    document: DocumentFile.optional(),
    location: MessageLocation.optional(),
    product: MessageProduct.optional(),
  }),
)
  .describe('What the header of the template shows: the one field that fits its format.')
  .meta({
    id: 'MessageHeader',
    examples: [{ document: { link: 'https://example.com/invoice.pdf', filename: 'invoice.pdf' } }],
  })
export type MessageHeader = z.infer<typeof MessageHeader>

/** Whether JSON from the caller is shallow enough to be serialized recursively. */
function isShallow(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth < maxDepth && Object.values(value).every((inner) => isShallow(inner, depth + 1))
}

export const FlowInput = z
  .strictObject({
    token: withExample(singleLine(512).optional(), 'Returned by WhatsApp with the response to the flow.', 'booking-7'),
    data: withExample(
      z
        .record(z.string(), z.unknown())
        .refine((value) => isShallow(value), `must not nest more than ${maxDepth} levels`)
        .optional(),
      'Data for the first screen of the flow.',
      { service: 'haircut' },
    ),
  })
  .describe('What a flow button passes to its flow.')
  .meta({ id: 'FlowInput', examples: [{ token: 'booking-7' }] })

export const ProductSection = z
  .strictObject({
    title: withExample(singleLine(componentLimits.sectionTitleCharacters), 'Heading of the section.', 'Best sellers'),
    productIds: withExample(
      z
        .array(productId)
        .min(1, 'must have at least 1 product')
        .max(componentLimits.products, `must have at most ${componentLimits.products} products`),
      'IDs of the products in the catalogue.',
      ['sku-1', 'sku-2'],
    ),
  })
  .describe('A group of products.')
  .meta({ id: 'ProductSection', examples: [{ title: 'Best sellers', productIds: ['sku-1', 'sku-2'] }] })

export const ButtonProducts = z
  .strictObject({
    thumbnailProductId: productId.optional().describe('Product whose picture the message shows.'),
    sections: z
      .array(ProductSection)
      .min(1, 'must have at least 1 section')
      .max(componentLimits.productSections, `must have at most ${componentLimits.productSections} sections`)
      .optional()
      .describe('Products of a multi-product button: 30 in all sections together.'),
  })
  .describe('What a catalogue button or a multi-product button shows.')
  .meta({ id: 'ButtonProducts', examples: [{ thumbnailProductId: 'sku-1' }] })
export type ButtonProducts = z.infer<typeof ButtonProducts>

export const MessageButton = exactlyOne(
  z.strictObject({
    index: withExample(
      wholeNumber(0, componentLimits.buttons - 1),
      'Position of the button among all buttons of the template, starting with 0.',
      0,
    ),
    url: withExample(z.string().optional(), 'End of the address of a URL button: the value of its variable.', 'A-1024'),
    payload: withExample(
      nonEmptyText(256).optional(),
      'Returned by WhatsApp when the recipient taps a quick-reply button.',
      'order-1042:yes',
    ),
    couponCode: withExample(z.string().optional(), 'Code that a copy-code button copies.', 'SPRING9'),
    flow: FlowInput.optional(),
    products: ButtonProducts.optional(),
  }),
  ['index'],
)
  .describe('The value of one button of the template.')
  .meta({ id: 'MessageButton', examples: [{ index: 0, url: 'A-1024' }] })
export type MessageButton = z.infer<typeof MessageButton>

export const MessageButtons = z
  .array(MessageButton)
  .max(componentLimits.buttons, `must have at most ${componentLimits.buttons} buttons`)

export const OneTimeCode = withExample(
  z
    .string()
    .min(4, problems.atLeastCharacters({ min: 4 }))
    .max(componentLimits.codeCharacters, problems.atMostCharacters({ maxLength: componentLimits.codeCharacters })),
  'The one-time code of an AUTHENTICATION template, instead of `variables` and `buttons`: it fills the body and the button. It is never stored, logged or put into an event.',
  '481516',
)

export const MessageCard = z
  .strictObject({
    header: MessageHeader.optional(),
    variables: Variables.optional(),
    buttons: MessageButtons.optional().describe('Values of the buttons of this card; their `index` starts with 0.'),
  })
  .describe('The values of one card of a carousel.')
  .meta({
    id: 'MessageCard',
    examples: [{ header: { image: { link: 'https://example.com/photo.jpg' } }, buttons: [{ index: 0, url: 'aloe' }] }],
  })
export type MessageCard = z.infer<typeof MessageCard>

export const LimitedTimeOffer = z
  .strictObject({ expiresAt: Timestamp.describe('When the offer ends.') })
  .describe('The end of a limited-time offer.')
  .meta({ id: 'LimitedTimeOffer', examples: [{ expiresAt: '2026-12-24T18:00:00.000Z' }] })

const maxRawComponents = 20

const RawComponent = z
  .looseObject({
    type: withExample(nonEmptyText(64), 'Kind of the component, in lower case.', 'body'),
  })
  .describe("A component as WhatsApp's own interface takes it.")
  .meta({ id: 'RawComponent', examples: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }] })

export const RawComponents = withExample(
  z
    .array(RawComponent)
    .max(maxRawComponents, `must have at most ${maxRawComponents} components`)
    .refine((value) => isShallow(value), `must not nest more than ${maxDepth} levels`),
  "WhatsApp's own `template.components`, instead of all other values, for what Waybill has no field for yet. Passed on as it is: only its shape and size are checked.",
  [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
)
