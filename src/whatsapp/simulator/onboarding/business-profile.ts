import { z } from 'zod'
import { ok, pickFields, type RoutedRequest, type SimulatedResponse } from '../exchange.ts'
import { invalidParameter } from '../invalid-parameter.ts'

/** What recipients see of a business: reference 2, section 5.3. */
const Profile = z.object({
  about: z.string().min(1).max(139).optional(),
  address: z.string().max(256).optional(),
  description: z.string().max(512).optional(),
  email: z.string().max(128).optional(),
  websites: z.array(z.url().max(256)).max(2).optional(),
  vertical: z.string().optional(),
  profile_picture_handle: z.string().optional(),
})
export type BusinessProfile = Omit<z.infer<typeof Profile>, 'profile_picture_handle'>

const Update = Profile.extend({ messaging_product: z.literal('whatsapp') })

/** `GET` and `POST /<phone number id>/whatsapp_business_profile`. Fields that an update leaves out keep their value. */
export function handleBusinessProfile(
  number: { profile?: BusinessProfile },
  { method, query, body }: RoutedRequest,
): SimulatedResponse {
  if (method === 'GET') {
    const profile = { messaging_product: 'whatsapp', ...number.profile }
    return ok({ data: [pickFields(profile, query, ['messaging_product'])] })
  }
  const update = Update.safeParse(body)
  if (!update.success) return invalidParameter(update.error, body)
  const { messaging_product: _, profile_picture_handle: _handle, ...changes } = update.data
  number.profile = { ...number.profile, ...changes }
  return ok({ success: true })
}
