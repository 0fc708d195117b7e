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
  const keys = [...new Set([...(body?.text ?? '').matchAll(placeholderPattern)].map((match) => match[1] ?? ''))]
  if (parameterFormat === 'NAMED')
    return keys.map((key) =>
      withExample(key, body?.example?.body_text_named_params?.find((param) => param.param_name === key)?.example),
    )
  return keys
    .sort((a, b) => Number(a) - Number(b))
    .map((key) => withExample(key, body?.example?.body_text?.[0]?.[Number(key) - 1]))
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

export function findText(components: StoredComponent[], type: 'HEADER' | 'BODY' | 'FOOTER'): string | undefined {
  return components.find((component) => component.type === type)?.text
}

/** Buttons that require a parameter of their own. */
const parameterButtons = new Set(['OTP', 'COPY_CODE', 'FLOW', 'MPM', 'SPM'])

/**
 * Returns why this template cannot be sent yet; undefined if it can. Header media and button parameters are announced
 * for a future version (spec, Template; Versioning).
 */
export function findUnsupportedPart(components: StoredComponent[]): string | undefined {
  for (const component of components) {
    if (component.type === 'HEADER') {
      if (component.format !== undefined && component.format !== 'TEXT')
        return `it has a header of format ${component.format}, and header media cannot be sent yet`
      if (hasPlaceholder(component.text)) return 'its header holds a variable, and header variables cannot be sent yet'
    } else if (component.type === 'BUTTONS') {
      const button = component.buttons?.find(({ type, url }) => parameterButtons.has(type) || hasPlaceholder(url))
      if (button)
        return `its button of type ${button.type} requires a parameter, and button parameters cannot be sent yet`
    } else if (component.type !== 'BODY' && component.type !== 'FOOTER') {
      return `it has a component of type ${component.type}, which cannot be sent yet`
    }
  }
  return undefined
}

function hasPlaceholder(text: string | undefined): boolean {
  return text !== undefined && /\{\{.*?\}\}/.test(text)
}
