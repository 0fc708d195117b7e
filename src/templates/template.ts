import type { Template, TemplateComponent } from '../../contracts/api/template.ts'
import type { StoredComponent } from '../platform/db/schema.ts'
import { findUnsupportedPart, listPlaceholders } from './render.ts'
import type { TemplateRow } from './store.ts'

/** Converts a row to the API's template. */
export function toTemplate(row: TemplateRow): Template {
  const reason = row.status === 'APPROVED' ? findUnsupportedPart(row.components) : `its status is ${row.status}`
  return {
    name: row.name,
    language: row.language,
    status: row.status,
    ...(row.category !== null && { category: row.category }),
    sendable: reason === undefined,
    ...(reason !== undefined && { reason }),
    placeholders: [...listPlaceholders({ parameterFormat: row.parameter_format, components: row.components })],
    components: row.components.map(toComponent),
    syncedAt: row.synced_at.toISOString(),
  }
}

function toComponent({ type, format, text, buttons }: StoredComponent): TemplateComponent {
  return {
    type,
    ...(format !== undefined && { format }),
    ...(text !== undefined && { text }),
    ...(buttons !== undefined && {
      buttons: buttons.map((button) => ({
        type: button.type,
        ...(button.text !== undefined && { text: button.text }),
      })),
    }),
  }
}
