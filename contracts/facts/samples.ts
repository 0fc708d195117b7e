import { defineFacts } from './fact.ts'

/** The file types of samples, by the format of the header. */
export const sampleTypes = defineFacts('sampleType', {
  IMAGE: 'a JPEG or PNG image',
  VIDEO: 'an MP4 video',
  DOCUMENT: 'a PDF document',
})
