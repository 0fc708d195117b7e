import { z } from 'zod'
import { problems } from '../facts/problems.ts'
import { namedStrictObject, nonEmptyText, withExample } from '../fields.ts'
import {
  TemplateCardDefinition,
  templateDefinitionShape,
  TemplateHeaderDefinition,
  TemplateSample,
} from './definition.ts'

/** In a template file, a sample can also be a local file. */
const FileSample = TemplateSample.extend({
  file: withExample(nonEmptyText(4096).optional(), 'Path of the sample, relative to this file.', 'samples/invoice.pdf'),
})
  .describe('A sample file for the reviewer: one of `file`, `link` and `handle`.')
  .meta({ id: 'TemplateFileSample' })

const FileHeader = TemplateHeaderDefinition.extend({
  sample: FileSample.optional().describe('Of the formats `IMAGE`, `VIDEO` and `DOCUMENT`.'),
}).meta({ id: 'TemplateFileHeader' })

/** A template file, for example in a repository. */
export const TemplateFile = namedStrictObject(
  'TemplateFile',
  'A WhatsApp message template, as `waybill template push` submits it.',
  {
    ...templateDefinitionShape,
    header: FileHeader.optional(),
    cards: z
      .array(TemplateCardDefinition.extend({ header: FileHeader }).meta({ id: 'TemplateFileCard' }))
      .max(50, problems.atMostEntries({ max: 50 }))
      .optional()
      .describe('A carousel of 2 to 10 cards.'),
  },
)
export type TemplateFile = z.infer<typeof TemplateFile>

/** Returns the JSON Schema with which editors complete and validate template files. */
export function writeTemplateFileSchema(): string {
  const schema = z.toJSONSchema(TemplateFile, { io: 'input' })
  return `${JSON.stringify({ title: 'Waybill template', ...schema }, null, 2)}\n`
}
