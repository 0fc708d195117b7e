import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'

export interface TemplateFilter {
  /** A part of the name. */
  name: string
  /** WhatsApp's word; null for all. */
  status: string | null
}

export function filterTemplates(templates: OwnTemplate[], { name, status }: TemplateFilter): OwnTemplate[] {
  // Names have underscores where people type spaces.
  const wanted = name.trim().toLowerCase().replaceAll(' ', '_')
  return templates.filter(
    (template) => (status === null || template.status === status) && template.name.toLowerCase().includes(wanted),
  )
}

/** How many there are of each status, in the order of the templates. */
export function countStatuses(templates: OwnTemplate[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { status } of templates) counts.set(status, (counts.get(status) ?? 0) + 1)
  return counts
}
