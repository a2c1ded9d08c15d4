import createClient from "openapi-fetch";
import type { Open } from "../client.ts";
import type { paths as Integration } from "./integration.ts";
import type { paths as Messaging } from "./messaging.ts";

/** openapi-typescript has no type for bytes: they are strings. */
const asBytes = (blob: Blob) => blob as unknown as string;

const toForm = (fields: object): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};

const some = <T>(data: T | undefined, error: unknown): T => {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
};

export const open: Open = ({ baseUrl, messagingBaseUrl, apiKey, basic: { username, password } }) => {
  const integration = createClient<Integration>({ baseUrl });
  const authorization = `Basic ${btoa(`${username}:${password}`)}`;
  const messaging = createClient<Messaging>({ baseUrl: messagingBaseUrl, headers: { authorization } });
  const headers = { apikey: apiKey };
  return {
    async listResidents() {
      const { data, error } = await integration.POST("/v1/penduduk", { headers, body: { page_size: 3 } });
      return some(data, error);
    },
    async searchResidents(name) {
      const body = { p_nama: name };
      const { data, error } = await integration.POST("/v1/penduduk/search", { headers, body });
      return some(data, error);
    },
    async login(username, password) {
      const { data, error } = await integration.POST("/v1/simpeg/auth/login", {
        body: { username, password },
      });
      return some(data, error);
    },
    async refresh(token) {
      const { data, error } = await integration.POST("/v1/simpeg/auth/refresh", {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: { grant_type: "refresh_token", refresh_token: token },
      });
      return some(data, error);
    },
    async findEmployees(token, name) {
      const { data, error } = await integration.GET("/v1/simpeg/pegawai", {
        headers: { authorization: `Bearer ${token}` },
        params: { query: { nama: name } },
      });
      const { result } = some(data, error);
      return Array.isArray(result) ? result : [];
    },
    async sendText(phone, message) {
      const { data, error } = await messaging.POST("/send/message", { body: { phone, message } });
      return some(data, error).data.id;
    },
    async sendImage(phone, image) {
      const { data, error } = await messaging.POST("/send/image", {
        body: { phone, image: asBytes(image), caption: "a caption" },
        bodySerializer: toForm,
      });
      return some(data, error).data.id;
    },
    async sendFile(phone, file) {
      const { data, error } = await messaging.POST("/send/file", {
        body: { phone, file: asBytes(file), duration: 86_400 },
        bodySerializer: toForm,
      });
      return some(data, error).results.message_id;
    },
    async readState(id) {
      const { data, error } = await messaging.GET("/messages/{id}", { params: { path: { id } } });
      return some(data, error).data.status;
    },
  };
};
