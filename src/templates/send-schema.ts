import { z } from 'zod'
import { componentLimits, MessageButton, MessageHeader } from '../../contracts/api/components.ts'
import { SendMessageRequest } from '../../contracts/api/message.ts'
import { inlineDefinitions } from '../platform/json-schema.ts'
import {
  type ButtonPart,
  type CardPart,
  type HeaderPart,
  listTemplateParts,
  type SectionParts,
  type TemplateParts,
} from './fill/parts.ts'
import { listPlaceholders, type TemplateText } from './placeholders.ts'

type JsonSchema = Record<string, unknown>

/** JSON Schemas of all request fields, from which the fields of a template are chosen. */
const request = propertiesOf(SendMessageRequest)
const headerSchemas = propertiesOf(MessageHeader)
const buttonSchemas = propertiesOf(MessageButton)

/** Returns the JSON Schema of a send of this template; undefined if no send can fill it. */
export function writeSendSchema(template: TemplateText & { name: string; language: string }): JsonSchema | undefined {
  const parts = listTemplateParts(template)
  if (parts.unsupported !== undefined) return undefined
  // WhatsApp sends one-time codes only to numbers.
  const { codeButton } = parts
  const values = codeButton ? { code: required(request['code']) } : writeValues(template, parts)
  const fields: Fields = {
    to: { schema: request['to'], isRequired: codeButton !== undefined },
    recipient: codeButton ? undefined : { schema: request['recipient'], isRequired: false },
    template: { schema: { const: template.name }, isRequired: true },
    language: { schema: { const: template.language }, isRequired: true },
    ...values,
    externalId: { schema: request['externalId'], isRequired: false },
    accountId: { schema: request['accountId'], isRequired: false },
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...writeObject(fields),
    ...(!codeButton && { anyOf: [{ required: ['to'] }, { required: ['recipient'] }] }),
  }
}

interface Field {
  schema: unknown
  isRequired: boolean
}

type Fields = Record<string, Field | undefined>

function writeValues(template: TemplateText, parts: TemplateParts): Fields {
  const { cards, offer } = parts
  return {
    ...writeSection(template, parts),
    cards: cards && required(writeCards(cards)),
    limitedTimeOffer: offer?.hasExpiration === true ? required(request['limitedTimeOffer']) : undefined,
  }
}

function writeSection(template: TemplateText, parts: SectionParts): Fields {
  const placeholders = listPlaceholders(template)
  const variables = Object.fromEntries(
    placeholders.map(({ key, example }) => [key, required(writeText(`Fills {{${key}}}.`, example))] as const),
  )
  const buttons = parts.buttons.filter(({ field }) => field !== 'nothing')
  return {
    variables: placeholders.length > 0 ? required(writeObject(variables)) : undefined,
    header: parts.header && required(writeHeader(parts.header)),
    buttons: buttons.length > 0 ? writeButtons(buttons) : undefined,
  }
}

/** WhatsApp accepts more product cards than the template has. */
function writeCards(cards: readonly CardPart[]): JsonSchema {
  const items = cards.map((card) => writeObject(writeSection(card.text, card)))
  return cards.every(({ header }) => header?.kind === 'product')
    ? { type: 'array', items: items[0], minItems: 2, maxItems: componentLimits.cards }
    : { type: 'array', prefixItems: items, minItems: cards.length, maxItems: cards.length }
}

function required(schema: unknown): Field {
  return { schema, isRequired: true }
}

function writeObject(fields: Fields): JsonSchema {
  const present = Object.entries(fields).flatMap(([name, field]) => (field ? [{ name, ...field }] : []))
  return {
    type: 'object',
    properties: Object.fromEntries(present.map(({ name, schema }) => [name, schema])),
    required: present.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  }
}

function writeText(description: string, example: string | undefined, maxLength?: number): JsonSchema {
  return {
    type: 'string',
    minLength: 1,
    ...(maxLength !== undefined && { maxLength }),
    description,
    ...(example !== undefined && { examples: [example] }),
  }
}

function writeHeader(part: HeaderPart): JsonSchema {
  const schema =
    part.kind === 'text'
      ? writeText(`Fills {{${part.key}}} in '${part.text}'.`, part.example, componentLimits.headerCharacters)
      : headerSchemas[part.kind]
  return writeObject({ [part.kind]: required(schema) })
}

/** The array may be in any order, so each required button is identified by its index. */
function writeButtons(buttons: ButtonPart[]): Field {
  const requiredButtons = buttons.filter(({ isRequired }) => isRequired)
  return {
    isRequired: requiredButtons.length > 0,
    schema: {
      type: 'array',
      maxItems: buttons.length,
      items: { anyOf: buttons.map(writeButton) },
      ...(requiredButtons.length > 0 && {
        allOf: requiredButtons.map(({ index }) => ({
          contains: { type: 'object', properties: { index: { const: index } }, required: ['index'] },
        })),
      }),
    },
  }
}

function writeButton({ index, field, label, isRequired }: ButtonPart): JsonSchema {
  return {
    title: label,
    ...writeObject({ index: required({ const: index }), [field]: required(buttonSchemas[field]) }),
    ...(!isRequired && { description: 'May be left out.' }),
  }
}

/** The JSON Schemas of an object's properties, without references. */
function propertiesOf(schema: z.ZodType): Record<string, unknown> {
  const { $defs: definitions = {}, ...root } = z.toJSONSchema(schema, { io: 'input' })
  const { properties } = inlineDefinitions(root, (name) => definitions[name]) as { properties: Record<string, unknown> }
  return properties
}
