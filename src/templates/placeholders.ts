import type { Placeholder } from '../../contracts/api/template.ts'
import type { StoredComponent } from '../platform/db/schema.ts'

/** The parts of a template that determine its text. */
export interface TemplateText {
  /** `POSITIONAL` (`{{1}}`) or `NAMED` (`{{first_name}}`). */
  parameterFormat: string
  components: StoredComponent[]
}

const placeholderPattern = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

const placeholdersOf = new WeakMap<TemplateText, readonly Placeholder[]>()

/**
 * Returns the variables of the body: numbers in ascending order, names in the order of the text. The result is cached
 * per template object, which the sends of a batch share.
 */
export function listPlaceholders(template: TemplateText): readonly Placeholder[] {
  let placeholders = placeholdersOf.get(template)
  if (!placeholders) {
    placeholders = findPlaceholders(template)
    placeholdersOf.set(template, placeholders)
  }
  return placeholders
}

function findPlaceholders({ parameterFormat, components }: TemplateText): Placeholder[] {
  const body = components.find((component) => component.type === 'BODY')
  const keys = listKeys(body?.text ?? '')
  if (parameterFormat === 'NAMED')
    return keys.map((key) =>
      withExample(key, body?.example?.body_text_named_params?.find((param) => param.param_name === key)?.example),
    )
  return keys
    .sort((a, b) => Number(a) - Number(b))
    .map((key) => withExample(key, body?.example?.body_text?.[0]?.[Number(key) - 1]))
}

/** Returns the placeholders of a text, without duplicates. */
export function listKeys(text: string): string[] {
  return [...new Set([...text.matchAll(placeholderPattern)].map(([, key = '']) => key))]
}

function withExample(key: string, example: string | undefined): Placeholder {
  return example === undefined ? { key } : { key, example }
}

/** Fills in the placeholders; one without a value stays as it is. */
export function fill(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(placeholderPattern, (placeholder, key: string) =>
    Object.hasOwn(variables, key) ? (variables[key] ?? placeholder) : placeholder,
  )
}

/** Fills in the only placeholder of a URL, whatever its name. */
export function fillUrl(url: string, value: string): string {
  return url.replace(placeholderPattern, () => value)
}

export function findText(components: StoredComponent[], type: 'HEADER' | 'BODY' | 'FOOTER'): string | undefined {
  for (const component of components) if (component.type === type) return component.text
  return undefined
}
