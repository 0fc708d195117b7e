import type { StoredComponent } from '../../../platform/db/schema.ts'

/** A template as stored by the Graph API (reference, section 3.1). */
export interface GraphTemplate {
  id: string
  name: string
  language: string
  status: string
  category: string
  /** The category that Meta will give it. */
  correct_category?: string
  parameter_format: 'POSITIONAL' | 'NAMED'
  components: StoredComponent[]
  quality_score: { score: string; date: number }
  rejected_reason: string
  message_send_ttl_seconds?: number
  /** How Meta may alter the creative of marketing messages, by feature. */
  degrees_of_freedom_spec?: { creative_features_spec: { key: string; value: { enroll_status: string } }[] }
  /** `AUTO_GENERATED` if Direct Send made it from a message. */
  source?: string
}

export type NewTemplate = Partial<GraphTemplate> & {
  name: string
  /** Shorthand for `components` with only a body. */
  body?: string
}

/** The templates of a WhatsApp Business Account. Tests may change them at any time. */
export interface TemplateList {
  add(template: NewTemplate): GraphTemplate
  set(name: string, language: string, change: Partial<GraphTemplate>): void
  remove(name: string, language: string): void
  clear(): void
  all(): readonly GraphTemplate[]
}

/** `nextId` returns 16 digits, like Meta's IDs. */
export function createTemplateList(nextId: () => string): TemplateList {
  let templates: GraphTemplate[] = []
  const has = (name: string, language: string) => (template: GraphTemplate) =>
    template.name === name && template.language === language

  return {
    add(template) {
      const added = complete(template, nextId())
      templates = [...templates.filter((other) => !has(added.name, added.language)(other)), added]
      return added
    },
    set(name, language, change) {
      if (!templates.some(has(name, language))) throw new Error(`The simulator has no template ${name} in ${language}`)
      templates = templates.map((template) => (has(name, language)(template) ? { ...template, ...change } : template))
    },
    remove(name, language) {
      templates = templates.filter((template) => !has(name, language)(template))
    },
    clear() {
      templates = []
    },
    all: () => templates,
  }
}

function complete({ body, ...template }: NewTemplate, id: string): GraphTemplate {
  return {
    id,
    language: 'en',
    status: 'APPROVED',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    components: body === undefined ? [] : [{ type: 'BODY', text: body }],
    quality_score: { score: 'GREEN', date: 1_758_754_645 },
    rejected_reason: 'NONE',
    ...template,
  }
}
