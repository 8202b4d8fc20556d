import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'

/** Signs in with a passkey, by a script; hidden without one. */
export const PasskeySignIn: FC<{ words: Site['words']; to: string; isAlternative?: boolean }> = ({ words, to, isAlternative }) => (
  <form hidden data-passkey="sign-in" data-failed={words.factors.passkeyFailed}>
    {isAlternative ? <p class="quiet">{words.factors.or}</p> : null}
    <input type="hidden" name="to" value={to} />
    <p>
      <button class={isAlternative ? 'button' : 'button first'} type="submit">
        {words.factors.withPasskey}
      </button>
    </p>
    <p class="fault notice" role="alert" data-fault hidden></p>
  </form>
)
