import { readPages, type ReadPage } from './pages.ts'
import { Template } from './wire.ts'
import type { ListedTemplate, ReadOutcome } from './whatsapp.ts'

/** Asked for by name: the last two come only then (reference, section 3.1). */
const fields = 'id,name,language,status,category,parameter_format,components,quality_score,rejected_reason'

export async function listTemplates(readPage: ReadPage): Promise<ReadOutcome<ListedTemplate[]>> {
  const read = await readPages(readPage, { fields, of: 'templates' })
  return read.ok ? { ok: true, value: read.value.flatMap(toListedTemplate) } : read
}

function toListedTemplate(item: unknown): ListedTemplate[] {
  const parsed = Template.safeParse(item)
  if (!parsed.success) return []
  const { parameter_format, quality_score, rejected_reason, category, ...rest } = parsed.data
  return [
    {
      ...rest,
      parameterFormat: parameter_format,
      ...(category === undefined ? {} : { category }),
      ...(quality_score?.score === undefined ? {} : { qualityScore: quality_score.score }),
      ...(rejected_reason === undefined || rejected_reason === 'NONE' ? {} : { rejectedReason: rejected_reason }),
    },
  ]
}
