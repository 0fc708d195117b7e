import { maxMediaBytes, type MediaKind } from '../api/media.ts'

export const sampleFormats = ['IMAGE', 'VIDEO', 'DOCUMENT'] as const
export type SampleFormat = (typeof sampleFormats)[number]

interface SampleRule {
  kind: MediaKind
  mimeTypes: readonly string[]
}

/** The file types that WhatsApp accepts as samples of media headers: fewer than for messages. */
export const sampleRules = {
  IMAGE: { kind: 'image', mimeTypes: ['image/jpeg', 'image/png'] },
  VIDEO: { kind: 'video', mimeTypes: ['video/mp4'] },
  DOCUMENT: { kind: 'document', mimeTypes: ['application/pdf'] },
} as const satisfies Record<SampleFormat, SampleRule>

export function isSampleFormat(format: string): format is SampleFormat {
  return format in sampleRules
}

export function isSampleType(format: SampleFormat, type: string): boolean {
  return sampleRules[format].mimeTypes.some((one) => one === type)
}

export function maxSampleBytes(format: SampleFormat): number {
  return maxMediaBytes[sampleRules[format].kind]
}
