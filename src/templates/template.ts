import type { Template, TemplateComponent } from '../../contracts/api/template.ts'
import type { StoredComponent } from '../platform/db/schema.ts'
import { writeExample } from './example.ts'
import { listParts } from './fill/parts.ts'
import { listPlaceholders } from './placeholders.ts'
import { writeSendSchema } from './send-schema.ts'
import type { TemplateRow } from './store.ts'

/** Converts a row to the API's template. */
export function toTemplate(row: TemplateRow): Template {
  const { name, language } = row
  const template = { name, language, parameterFormat: row.parameter_format, components: row.components }
  const reason = row.status === 'APPROVED' ? listParts(template).unsupported : `its status is ${row.status}`
  const example = writeExample(template)
  const sendSchema = writeSendSchema(template)
  return {
    name,
    language,
    status: row.status,
    ...(row.category !== null && { category: row.category }),
    sendable: reason === undefined,
    ...(reason !== undefined && { reason }),
    placeholders: [...listPlaceholders(template)],
    components: row.components.map(toComponent),
    ...(example && { example }),
    ...(sendSchema && { sendSchema }),
    syncedAt: row.synced_at.toISOString(),
  }
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
