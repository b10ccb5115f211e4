import assert from 'node:assert';
import { test } from 'node:test';
import { slug } from '../src/slug.js';

test('German letters are spelled out', () => {
  assert.strictEqual(slug('Grüße aus Köln'), 'gruesse-aus-koeln');
});

test('capital letters as well', () => {
  assert.strictEqual(slug('Über Äpfel'), 'ueber-aepfel');
});

test('accents are dropped', () => {
  assert.strictEqual(slug('Café crème'), 'cafe-creme');
});
