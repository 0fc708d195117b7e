import { readFailure } from './failure.ts'

interface FormLike {
  getValues: () => object
  setErrors: (errors: Record<string, string>) => void
}

/**
 * Shows beside each field of a Mantine form what is wrong with it. Returns what belongs to no field, to be
 * shown above the form; undefined when every problem found its place.
 */
export function showInForm(form: FormLike, error: unknown): string | undefined {
  const { message, fields } = readFailure(error)
  const known = Object.entries(fields).filter(([name]) => (name.split('.')[0] ?? '') in form.getValues())
  form.setErrors(Object.fromEntries(known))
  return known.length > 0 && known.length === Object.keys(fields).length ? undefined : message
}
