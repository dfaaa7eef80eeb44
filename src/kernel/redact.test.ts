import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { REDACTED, redactingStream, redactor } from './redact.ts';

const SECRET = 'sk-live/9f+3 "ä"=Zq';

describe('X-6: a known secret is masked', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const forms: readonly [form: string, text: string][] = [
    ['as it is', SECRET],
    ['in JSON', JSON.stringify({ key: SECRET })],
    ['in JSON that escapes slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
    ['in JSON of ASCII alone', JSON.stringify(SECRET).replaceAll('ä', '\\u00e4')],
    ['in a query', `?key=${encodeURIComponent(SECRET)}&x=1`],
    ['in a form', new URLSearchParams({ key: SECRET }).toString()],
    [
      'in lower-case escapes',
      encodeURIComponent(SECRET).replaceAll(/%../g, (x) => x.toLowerCase()),
    ],
    ['in base64', base64(SECRET)],
    ['in base64 after one byte', base64(`u${SECRET}`)],
    ['in base64 between others', base64(`ops:${SECRET}:more`)],
    ['in base64url', Buffer.from(`op:${SECRET}`).toString('base64url')],
  ];
  for (const [form, text] of forms) {
    test(form, () => {
      const masked = redactor([SECRET])(text);
      assert.ok(masked.includes(REDACTED), masked);
      for (const leak of [SECRET, 'sk-live', base64(SECRET).slice(4, 16)]) {
        assert.ok(!masked.includes(leak), masked);
      }
    });
  }

  test('each time, and the text around it stays', () => {
    const masked = redactor([SECRET, 'another-one'])(`a ${SECRET} b ${SECRET}, another-one.`);
    assert.equal(masked, `a ${REDACTED} b ${REDACTED}, ${REDACTED}.`);
  });

  test('a longer one whole, though it contains a shorter one', () => {
    assert.equal(redactor(['12345678', '12345678-long'])('12345678-long'), REDACTED);
  });

  test('each line of a key file alone, but not its armour', () => {
    const armour = '-----BEGIN PRIVATE KEY-----';
    const key = `${armour}\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n`;
    const masked = redactor([key])(`${armour}\n9w0BAQEFAASCBKcwggSj`);
    assert.equal(masked, `${armour}\n${REDACTED}`);
  });

  test('not when it is too short to be told from ordinary text', () => {
    assert.equal(redactor(['secret', ''])('the secret is out'), 'the secret is out');
  });

  test('without growing when the mask contains it', () => {
    assert.equal(redactor(['redacted'])(REDACTED), REDACTED);
  });

  test('in whatever text and wherever it is cut into pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(SECRET)), { maxLength: 8 }),
        fc.array(fc.nat(60), { maxLength: 8 }),
        (parts, cuts) => {
          const text = parts.join('');
          const stream = redactingStream([SECRET]);
          let out = '';
          let at = 0;
          for (const length of cuts) {
            out += stream.push(text.slice(at, at + length));
            at += length;
          }
          out += stream.push(text.slice(at)) + stream.end();
          assert.equal(out, redactor([SECRET])(text));
          assert.ok(!out.includes(SECRET));
        },
      ),
    );
  });

  test('so that masking twice changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), fc.string(), (secret, text) => {
        const redact = redactor([secret]);
        const once = redact(`${text}${secret}${text}`);
        assert.equal(redact(once), once);
      }),
    );
  });
});
